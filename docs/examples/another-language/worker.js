// A netdyno worker in JavaScript: trains one linear layer with softmax and SGD, and refuses every other network.
// Started as: node worker.js request.json events.jsonl
const fs = require("fs");
const [request, eventsPath] = [JSON.parse(fs.readFileSync(process.argv[2], "utf8")), process.argv[3]];
const now = () => Number(process.hrtime.bigint()) / 1e9; // the monotonic clock, as the host reads it
const emit = (event, fields) => fs.appendFileSync(eventsPath, JSON.stringify({ event, at: now(), ...fields }) + "\n");
const OPS = ["flatten", "linear", "softmax_cross_entropy"];
function build(programme) {
  const { nodes } = programme.graph, [update] = programme.stages[0].updates;
  const odd = nodes.find((node) => !OPS.includes(node.op)) || (nodes.length !== OPS.length && nodes[0]);
  if (odd) throw { unsupported: `${odd.op} (node '${odd.name}'): only one linear layer is known here` };
  const [batch, size] = nodes.find((node) => node.op === "flatten").shape;
  const classes = nodes.find((node) => node.op === "linear").shape[1];
  const w = Float32Array.from({ length: classes * size }, () => (Math.random() - 0.5) / Math.sqrt(size));
  const x = Float32Array.from({ length: batch * size }, () => Math.random() - 0.5);
  const labels = Array.from({ length: batch }, () => Math.floor(Math.random() * classes));
  let loss = NaN;
  function step() {
    const gradient = new Float32Array(w.length);
    loss = 0;
    for (let n = 0; n < batch; n++) {
      const row = x.subarray(n * size, (n + 1) * size);
      const logits = Array.from({ length: classes }, (_, c) => row.reduce((s, v, i) => s + v * w[c * size + i], 0));
      const top = Math.max(...logits);
      const total = logits.reduce((s, z) => s + Math.exp(z - top), 0);
      loss += (Math.log(total) + top - logits[labels[n]]) / batch;
      for (let c = 0; c < classes; c++) {
        const slope = (Math.exp(logits[c] - top) / total - (c === labels[n])) / batch;
        for (let i = 0; i < size; i++) gradient[c * size + i] += slope * row[i];
      }
    }
    for (let i = 0; i < w.length; i++) w[i] -= update.optimizer.learning_rate * gradient[i];
  }
  return { step, losses: () => ({ [update.name]: loss }), parameters: w.length };
}
function block(trainer, steps) {
  const start = now();
  for (let n = 0; n < steps; n++) trainer.step();
  return now() - start;
}
function measure(trainer, { seconds, block_s }) {
  emit("first_step", { seconds: block(trainer, 1) });
  emit("loss", { when: "first", losses: trainer.losses() });
  const one = block(trainer, 1), steps = Math.max(1, Math.round(block_s / one));
  emit("warmup", { steady: true, blocks: [[1, one]] });
  for (const end = now() + seconds; now() < end; ) emit("sample", { steps, seconds: block(trainer, steps) });
  emit("loss", { when: "last", losses: trainer.losses() });
  emit("memory", { host_peak_bytes: process.resourceUsage().maxRSS * 1024, device_peak_bytes: null });
}
try {
  emit("hello", { protocol: 2, worker: request.worker, versions: { node: process.version }, python: "", pid: process.pid });
  if (request.task !== "train") throw { unsupported: `this worker has no task '${request.task}'` };
  const start = now(), trainer = build(request.programme);
  emit("built", { seconds: now() - start, parameters: trainer.parameters, weights: "own draws", settings: {} });
  measure(trainer, request.timing);
  emit("done", {});
} catch (error) {
  emit(error.unsupported ? "unsupported" : "failed", { reason: error.unsupported || String(error) });
  process.exitCode = 1;
}
