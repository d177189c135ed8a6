//! [`Contract`]: the entry point of this crate.

use std::sync::Arc;
#[cfg(feature = "validate")]
use std::sync::LazyLock;

use serde_json::{Map, Value};

use crate::{
    Family, Field, KeyPlace, Model, Operation, Pointer, Rule, SpecError, Word,
    spec::{self, FamilySpec, ModelPlace, Node, Spec, Tasks},
    view,
};
#[cfg(feature = "validate")]
use crate::{
    Violation,
    check::{Checks, FieldShape, IncrementalValidator},
};

/// openapi.yaml as JSON, which the build script has checked.
const EMBEDDED: &str = include_str!(concat!(env!("OUT_DIR"), "/openapi.json"));

/// A consistent `OpenAPI` document and the data derived from it.
#[derive(Debug)]
pub struct Contract {
    document: Value,
    pub(crate) spec: Spec,
    #[cfg(feature = "validate")]
    checks: Checks,
}

impl Contract {
    /// The contract that this program was built with.
    #[cfg(feature = "validate")]
    pub fn embedded() -> &'static Arc<Self> {
        static EMBEDDED_CONTRACT: LazyLock<Arc<Contract>> = LazyLock::new(|| {
            #[expect(
                clippy::expect_used,
                reason = "the build script has read it, and a test compiles its rules"
            )]
            Arc::new(Contract::built_in().expect("openapi.yaml was checked when this was built"))
        });
        &EMBEDDED_CONTRACT
    }

    /// A new instance of the embedded contract, for build scripts. Schemas are compiled on first use, so that a program that
    /// checks one family does not wait for the others.
    ///
    /// # Errors
    /// None in practice: the document was checked when this crate was built.
    pub fn built_in() -> Result<Self, SpecError> {
        let document = serde_json::from_str(EMBEDDED)
            .map_err(|error| SpecError::new("", format!("this is not JSON: {error}"), "build again"))?;
        Self::read(document)
    }

    /// Reads a contract from an `OpenAPI` document, for example an older or an edited one.
    ///
    /// # Errors
    /// The document is inconsistent; the error has the pointer and help.
    pub fn from_document(document: Value) -> Result<Self, SpecError> {
        let contract = Self::read(document)?;
        #[cfg(feature = "validate")]
        contract.checks.compile_all(&contract.spec)?;
        Ok(contract)
    }

    pub(crate) fn read(mut document: Value) -> Result<Self, SpecError> {
        Spec::read(&document)?.list_models(&mut document);
        let spec = Spec::read(&document)?;
        #[cfg(feature = "validate")]
        let checks = Checks::new(&document, &spec);
        Ok(Self {
            document,
            spec,
            #[cfg(feature = "validate")]
            checks,
        })
    }

    /// The document itself: `OpenAPI` 3.0.3 with the extensions that openapi.yaml explains, and with the ids of the catalogue in each request's schema.
    pub fn document(&self) -> &Value {
        &self.document
    }

    /// What the service is called.
    pub fn title(&self) -> &str {
        self.document["info"]["title"].as_str().unwrap_or_default()
    }

    /// The version of the interface, such as `1.0.0` (spec 9).
    pub fn version(&self) -> &str {
        &self.spec.version
    }

    /// The document as the client's generator has to see it, so that it drops nothing: shapes without constraints, and
    /// answers as raw bytes.
    pub fn codegen_view(&self) -> Value {
        view::codegen(&self.document)
    }

    /// The document for tools that test a service over HTTP: without extensions.
    pub fn test_view(&self) -> Value {
        view::without_extensions(&self.document)
    }

    /// The JSON Schema (2020-12) of a request: `if`/`then` on `model`, so that an error names the field, and each
    /// cross-field rule as a `not`. Stands alone, with `$defs`.
    pub fn request_schema(&self) -> Value {
        view::request_schema(&self.document, &self.spec)
    }

    /// The JSON Schemas (2020-12) of all components by name, cross-field rules included, as they go into `$defs`.
    pub fn definitions(&self) -> Map<String, Value> {
        view::definitions(&self.document, &self.spec)
    }

    /// The families, in the document's order.
    pub fn families(&self) -> impl Iterator<Item = &Family> {
        self.spec.families.iter().map(|family| &family.name)
    }

    /// The component that is the request of a family, such as `VideoRequestA`: its key in [`Self::definitions`].
    pub fn request_component(&self, family: &Family) -> Option<&str> {
        self.family(family).map(|family| family.component.as_str())
    }

    /// The catalogue of models (spec 2.1), in the document's order: those that it lists.
    pub fn models(&self) -> &[Arc<Model>] {
        &self.spec.catalogue.models
    }

    /// A model by its id; also one that the document takes without listing it (`match`).
    pub fn model(&self, id: &str) -> Option<Arc<Model>> {
        self.spec.catalogue.model(id)
    }

    /// The patterns of ids that the document takes without listing them, with `*`, and what it says of those models.
    pub fn unlisted_models(&self) -> impl Iterator<Item = (&str, &Model)> {
        self.spec.catalogue.patterns()
    }

    /// The top-level fields of a family's request, in the document's order; empty for an unknown family.
    pub fn fields(&self, family: &Family) -> &[Field] {
        self.family(family).map_or(&[], |family| &family.fields)
    }

    /// A top-level field of a family's request by its name.
    pub fn field(&self, family: &Family, name: &str) -> Option<&Field> {
        self.fields(family).iter().find(|field| field.name == name)
    }

    /// What the schema says of the values of a word; `None` where it does not.
    pub fn word_field(&self, family: &Family, word: Word) -> Option<&Field> {
        self.family(family)?.words.iter().find(|(known, _)| *known == word).map(|(_, field)| field)
    }

    /// What the service takes where a request does not say a word, if the document has it.
    pub fn default_of(&self, model: &Model, word: Word) -> Option<&Value> {
        let places = model.inputs.get(word)?.places();
        let mut fields = places.filter_map(|at| self.field(&model.family, at.as_str().strip_prefix('/')?));
        fields.find_map(|field| field.default.as_ref())
    }

    /// The fields of any component, such as `VideoMetadataA` or `Task`.
    ///
    /// # Errors
    /// There is no such component, or it is not an object.
    pub fn component_fields(&self, component: &str) -> Result<Vec<Field>, SpecError> {
        let root = Node::root(&self.document);
        spec::read_fields(&root, &root.need("components")?.need("schemas")?.need(component)?)
    }

    /// The cross-field rules by component, such as `VideoRequestB`.
    pub fn rules(&self) -> impl Iterator<Item = (&str, &[Rule])> {
        self.spec.rules.iter().map(|(component, rules)| (component.as_str(), rules.as_slice()))
    }

    /// How a task is submitted and followed.
    pub(crate) fn tasks(&self) -> &Tasks {
        &self.spec.tasks
    }

    /// Where the service is; `None` where the document leaves that to its user.
    pub fn server(&self) -> Option<&str> {
        self.servers().next()
    }

    /// All addresses of the service that the document has, the usual one first.
    pub fn servers(&self) -> impl Iterator<Item = &str> {
        self.spec.access.servers.iter().map(String::as_str)
    }

    /// The environment variable that usually has the API key, where the document names one.
    pub fn key_variable(&self) -> Option<&str> {
        self.spec.access.key_variable.as_deref()
    }

    /// Where the API key goes in a request.
    pub fn key_place(&self) -> &KeyPlace {
        &self.spec.access.key
    }

    /// The shortest time between two polls of a task, where the service asks for one.
    pub fn poll_interval(&self) -> Option<std::time::Duration> {
        self.spec.tasks.poll_interval()
    }

    /// The operation that gives the result of a completed task, where that is a request of its own.
    pub fn result(&self) -> Option<&Operation> {
        self.spec.tasks.operations.result.as_ref()
    }

    /// The operation that accepts a task.
    pub fn submit(&self) -> &Operation {
        &self.spec.tasks.operations.submit
    }

    /// The operation that describes a task.
    pub fn poll(&self) -> &Operation {
        &self.spec.tasks.operations.poll
    }

    /// The operation that gives the bytes of a video; `None` where it has a URL only.
    pub fn content(&self) -> Option<&Operation> {
        self.spec.tasks.operations.content.as_ref()
    }

    /// The operation that cancels a task, and the states in which it does.
    pub fn cancel(&self) -> Option<(&Operation, &[crate::TaskState])> {
        let tasks = &self.spec.tasks;
        Some((tasks.operations.cancel.as_ref()?, &tasks.cancel.as_ref()?.states))
    }

    /// Whether a completed task has the URL of its last frame.
    pub fn gives_last_frame(&self) -> bool {
        !self.spec.tasks.last_frame.is_empty()
    }

    /// Where a request's body has the model's id; `None` where it is a part of the path.
    pub fn model_place(&self) -> Option<&Pointer> {
        match &self.spec.tasks.model {
            ModelPlace::Body(pointer) => Some(pointer),
            ModelPlace::Path { .. } => None,
        }
    }

    /// The parameter of the path that takes the model's id, where the body has no place for it.
    pub fn model_parameter(&self) -> Option<&str> {
        match &self.spec.tasks.model {
            ModelPlace::Body(_) => None,
            ModelPlace::Path { parameter } => Some(parameter),
        }
    }

    fn family(&self, name: &Family) -> Option<&FamilySpec> {
        self.spec.families.iter().find(|family| family.name == *name)
    }
}

#[cfg(feature = "validate")]
impl Contract {
    /// Checks a create request (spec 2.2 to 2.4): every field, then every cross-field rule. Empty when it is acceptable.
    ///
    /// The first violation is the one to report when only one can be. An absent or unknown `model` is reported alone, because
    /// nothing else can be checked; its message lists the ids, the closest first. Unknown members are accepted, as the document
    /// allows them. At most 100 violations are returned.
    pub fn check_request(&self, request: &Value) -> Vec<Violation> {
        self.checks.request(&self.spec, request)
    }

    /// The same for a request to a family, whose body need not have the model's id.
    pub fn check_request_of(&self, family: &Family, request: &Value) -> Vec<Violation> {
        self.checks.request_of(&self.spec, family, request)
    }

    /// What the API reference does not forbid in a create request but leaves open, so that a service may refuse it: the matches of the rules of
    /// [`Severity::Warning`](crate::Severity). At most 100.
    pub fn check_request_warnings(&self, request: &Value) -> Vec<Violation> {
        let model = request.get("model").and_then(Value::as_str).and_then(|id| self.model(id));
        model
            .map(|model| self.checks.request_warnings(&self.spec, &model.family, request))
            .unwrap_or_default()
    }

    /// A validator for many similar requests, which memoizes what is valid. It agrees with [`Self::check_request_of`].
    pub fn incremental_validator(&self) -> IncrementalValidator<'_> {
        IncrementalValidator::new(&self.spec, &self.checks)
    }

    /// What the client's types demand of a field beyond [`Self::check_request`]; `None` where that is nothing.
    pub fn field_shape(&self, family: &Family, field: &str) -> Option<&FieldShape> {
        self.checks.shape(family, field)
    }

    /// Checks a task object (spec 2.5 and 3). For what proves that a service keeps the contract: the client reads tasks leniently instead.
    pub fn check_task(&self, task: &Value) -> Vec<Violation> {
        self.checks.task(&self.spec, task)
    }

    /// Checks the body of an error response (spec 7). For what proves that a service keeps the contract: the client reads errors leniently instead.
    pub fn check_error(&self, body: &Value) -> Vec<Violation> {
        self.checks.error(&self.spec, body)
    }
}
