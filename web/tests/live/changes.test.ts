/** What happens outside of the page: other pages, the command line, a server that goes away. */
import { expect, it } from "vitest";
import { details, run, state, useProjects } from "../support/live";

const project = useProjects();

const TWO = `version: 1
name: harbor
defaults: { model: modelb-video-480p, seconds: 1, size: 480x480 }
shots:
  - { id: lamp, takes: 2, prompt: the lamp turns on }
  - { id: ferry, prompt: the last ferry }
`;

it("shows two pages the same, and pays once for what both and the command line ask for", async () => {
  const harbor = await project(TWO);
  const server = await harbor.serve();
  const [one, other] = [await harbor.open(server), await harbor.open(server)];
  await expect.poll(() => state(other, "ferry")).toBe("not started");
  await run(one);
  const command = harbor.runner("run", "harbor.yaml", "--format", "json");
  // The server starts one run at a time.
  await expect.poll(() => other.getByRole("button", { name: "Running" }).isDisabled()).toBe(true);
  for (const page of [one, other]) for (const clip of ["lamp#1", "lamp#2", "ferry"]) await expect.poll(() => state(page, clip)).toBe("done");
  await command;
  expect(await harbor.attempts()).toBe(3);

  await harbor.runner("pick", "harbor.yaml", "lamp", "2");
  for (const page of [one, other]) await page.locator('[data-clip="lamp#2"] .stamp.pick').waitFor();
});

it("follows a server that was killed and started again", async () => {
  const harbor = await project(TWO);
  const server = await harbor.serve();
  const page = await harbor.open(server);
  await run(page);
  await page.getByRole("region", { name: "Run" }).waitFor();
  await server.kill();
  await expect.poll(() => page.getByRole("alert").innerText()).toContain("The server is not there");
  const again = await harbor.serve(server.port);
  await expect.poll(() => page.getByRole("alert").innerText()).toContain("Open the address");
  // In the same browser: the cookie is for both.
  await (await page.context().newPage()).goto(again.url);
  await expect.poll(() => page.getByRole("alert").count()).toBe(0);
  // The run has outlived its server.
  for (const clip of ["lamp#1", "lamp#2", "ferry"]) await expect.poll(() => state(page, clip)).toBe("done");
  expect(await harbor.attempts()).toBe(3);
});

it("keeps what it shows when the file becomes invalid, and plays on when other clips change", async () => {
  const harbor = await project(TWO);
  await harbor.runner("run", "harbor.yaml", "--only", "lamp");
  const page = await harbor.open(await harbor.serve());
  await details(page, "lamp#1");
  // Marks the element: one that is made anew has no mark.
  const mark = () => page.locator(".details video").getAttribute("data-mark");
  await page.evaluate(() => document.querySelector(".details video")?.setAttribute("data-mark", "first"));
  await harbor.write("version: 1\nshots: [");
  await expect.poll(() => page.getByRole("alert").innerText()).toContain("harbor.yaml:2");
  await harbor.write(TWO.replace("the last ferry", "the first ferry"));
  await expect.poll(() => page.getByRole("alert").count()).toBe(0);
  expect(await mark()).toBe("first");
  await details(page, "ferry");
  await expect.poll(() => page.locator(".details .prompt").innerText()).toBe("the first ferry");
});

it("plays many clips through few connections", async () => {
  const harbor = await project(`version: 1
name: harbor
defaults: { model: modelb-video-480p, seconds: 1, size: 480x480 }
shots:
  - { id: sea, prompt: "the {{ hue }} sea", matrix: { hue: [red, green, blue, grey, black, white, gold, pink, teal] } }
`);
  await harbor.runner("run", "harbor.yaml");
  const page = await harbor.open(await harbor.serve());
  await page.evaluate(() => { location.hash = "#/grid?shot=sea"; });
  await page.waitForFunction(() => [...document.querySelectorAll("video")].filter((video) => video.readyState >= 2 && video.src.startsWith("blob:")).length === 9);
  // The connections for events and actions are free.
  await page.getByRole("button", { name: "Run…" }).click();
  await page.locator(".dialog .estimate").waitFor();
});
