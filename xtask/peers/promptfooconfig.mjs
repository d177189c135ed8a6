// A test per task; the provider renders it.
const tasks = Array.from({ length: Number(process.env.PEER_TASKS) }, (_, number) => String(number).padStart(4, "0"));

export default {
  prompts: ["scene {{number}}"],
  providers: ["file://promptfoo_provider.mjs"],
  tests: tasks.map((number) => ({ vars: { number } })),
};
