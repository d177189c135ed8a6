//! `services new`: the commented description is one, and a draft out of a vendor's document becomes one.

use crate::support::{Project, cli_snapshot};

const NEW: [&str; 3] = ["services", "new", "my-api.yaml"];
const CHECK: [&str; 3] = ["services", "check", "my-api.yaml"];

#[test]
fn new_description_is_valid_and_rehearsed() {
    let workflow = "version: 1\nservice: mine\nshots:\n  \
                    - {id: sea, model: my-model-1, seconds: 4, resolution: 480p, ratio: \"16:9\", prompt: a quiet sea}\n";
    let project = Project::new("sea.yaml", workflow);
    cli_snapshot!("services_new", project.runner(&["services", "new"]).expect(0));
    cli_snapshot!("services_new_existing_file", project.runner(&NEW).expect(2));
    cli_snapshot!("services_new_checked", project.runner(&CHECK).expect(0));
    fs_err::write(project.file("services.yaml"), "services: { mine: { api: my-api.yaml } }\n")
        .expect("a writable folder");
    let run = project.runner(&["run", "sea.yaml", "--rehearse"]).expect(0);
    assert!(run.out.contains("1 of 1 shot is done, 1 submitted"), "{}", run.transcript());
}

const API: &str = r##"openapi: 3.0.1
info: { title: Lumen, version: "2.4", description: Images and videos }
servers: [{ url: https://api.lumen.example/v2 }]
security: [{ bearer: [] }]
paths:
  /images:
    post:
      requestBody: { content: { application/json: { schema: { type: object, properties: { prompt: { type: string } } } } } }
      responses: { 200: { description: the image } }
  /videos:
    post:
      operationId: createVideo
      requestBody: { content: { application/json: { schema: { $ref: "#/components/schemas/VideoRequest" } } } }
      responses:
        200: { description: accepted, content: { application/json: { schema: { $ref: "#/components/schemas/Video" } } } }
        400: { description: refused, content: { application/json: { schema: { $ref: "#/components/schemas/Error" } } } }
  /videos/{id}:
    parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
    get:
      responses: { 200: { description: the video, content: { application/json: { schema: { $ref: "#/components/schemas/Video" } } } } }
components:
  securitySchemes: { bearer: { type: http, scheme: bearer } }
  schemas:
    VideoRequest:
      type: object
      required: [model, prompt]
      properties:
        model: { $ref: "#/components/schemas/Model" }
        prompt: { type: string, maxLength: 1500 }
        duration: { type: integer, enum: [5, 10] }
        aspectRatio: { type: string, enum: ["16:9", "9:16"] }
        options: { type: object, properties: { seed: { type: integer } } }
        firstFrameUrl: { type: string }
        referenceImages: { type: array, items: { type: string } }
    Model: { type: string, enum: [lumen-2, lumen-2-fast] }
    Video:
      type: object
      properties:
        id: { type: string }
        state: { type: string, enum: [queued, dreaming, rendered, failed] }
        videos: { type: array, items: { type: object, properties: { url: { type: string } } } }
        failureReason: { type: string }
    Error: { type: object, properties: { error: { $ref: "#/components/schemas/Cause" } } }
    Cause: { type: object, properties: { code: { type: string }, message: { type: string }, cause: { $ref: "#/components/schemas/Cause" } } }
    Unused: { type: object }
"##;

#[test]
fn draft_is_a_description_once_its_gaps_are_filled() {
    let project = Project::new("api.yaml", API);
    let new = |arguments: &[&str]| project.runner(&[&NEW[..], &["--from", "api.yaml"], arguments].concat());
    cli_snapshot!("services_new_several_operations", new(&[]).expect(2));
    new(&["--operation", "/videos"]).expect(0);
    let file = project.file("my-api.yaml");
    let draft = fs_err::read_to_string(&file).expect("a draft");
    insta::assert_snapshot!("services_new_draft", draft);
    cli_snapshot!("services_new_draft_checked", project.runner(&CHECK).expect(2));
    fs_err::write(&file, draft.replace("# TODO: completed: its words", "completed: [rendered]"))
        .expect("a writable folder");
    project.runner(&CHECK).expect(0);
}
