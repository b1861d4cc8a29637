// Drives `xd mcp` with the official TypeScript client, through the whole of it.
// Usage: node drive.mjs XD NODE_MODULES. Exits with 0 only if all went well.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [program, modules] = process.argv.slice(2);
const sdk = (path) =>
  import(pathToFileURL(join(modules, "@modelcontextprotocol/sdk/dist/esm", path)).href);
const { Client } = await sdk("client/index.js");
const { StdioClientTransport } = await sdk("client/stdio.js");
const { StreamableHTTPClientTransport } = await sdk("client/streamableHttp.js");
const { ElicitRequestSchema, ResourceUpdatedNotificationSchema } = await sdk("types.js");

function site() {
  const folder = mkdtempSync(join(tmpdir(), "xd-"));
  writeFileSync(join(folder, "a.rs"), "fn main() {\n    old(1);\n}\n");
  writeFileSync(join(folder, "b.txt"), "three\n");
  return folder;
}

async function client(folder, options = [], answer) {
  const capabilities = answer ? { elicitation: { form: {} } } : {};
  const client = new Client({ name: "drive", version: "1" }, { capabilities });
  if (answer) client.setRequestHandler(ElicitRequestSchema, answer);
  const transport = new StdioClientTransport({ command: program, args: ["mcp", "-C", folder, ...options] });
  await client.connect(transport);
  // Output schemas are kept from the list, and results are checked against them.
  await client.listTools();
  return client;
}

const call = (client, name, given, options) =>
  client.callTool({ name, arguments: given }, undefined, options);
const text = (result) => result.content.map((block) => block.text).join("\n");
const rewrite = { ops: [{ pat: "old($A)", out: "new($A)" }], paths: ["."] };
const edits = (path, old_text, new_text) => ({ edits: [{ path, old_text, new_text }] });
const write = (client, path, content) => call(client, "write", { path, content });

async function whole() {
  const folder = site();
  const one = await client(folder);
  const { tools } = await one.listTools();
  assert.deepEqual(tools.map((tool) => tool.name), ["read", "write", "edit", "ast_edit"]);
  assert.equal(tools[0].annotations.readOnlyHint, true);

  const updated = [];
  one.setNotificationHandler(ResourceUpdatedNotificationSchema, (note) => {
    updated.push(note.params.uri);
  });
  await one.subscribeResource({ uri: "xd-state:///pending" });
  const notes = [];
  const staged = await call(one, "ast_edit", rewrite, { onprogress: (note) => notes.push(note) });
  assert.equal(staged.structuredContent.staged.number, 1);
  assert.match(text(staged), /^Staged as a proposal/);
  const held = await call(one, "edit", edits("b.txt", "three", "3"));
  assert.ok(held.isError && text(held).startsWith("Not executed"), text(held));

  const two = await client(folder);
  const seen = await call(two, "read", { path: "xd://resolve@1" });
  assert.match(text(seen), /\(pending\)/);
  await two.close();

  const applied = await write(one, "xd://resolve", "Clearer.");
  assert.equal(applied.structuredContent.outcome, "applied");
  assert.match(readFileSync(join(folder, "a.rs"), "utf8"), /new\(1\)/);
  for (let n = 0; n < 100 && updated.length === 0; n++) {
    await new Promise((done) => setTimeout(done, 20));
  }
  assert.ok(updated.includes("xd-state:///pending"), "the subscription is told");

  await call(one, "edit", edits("b.txt", "three", "3"));
  writeFileSync(join(folder, "b.txt"), "other\n");
  const stale = await write(one, "xd://resolve@2", "Yes.");
  assert.ok(stale.isError);
  assert.equal(readFileSync(join(folder, "b.txt"), "utf8"), "other\n");

  // A call that is cancelled ends, and the connection goes on.
  const cancel = new AbortController();
  const cancelled = call(one, "ast_edit", rewrite, { signal: cancel.signal });
  cancel.abort("enough");
  await assert.rejects(cancelled);
  const log = await one.readResource({ uri: "xd-state:///log" });
  assert.match(log.contents[0].text, /Clearer\./);
  await assert.rejects(one.readResource({ uri: "xd://resolve@99" }));
  const prompt = await one.getPrompt({ name: "review_staged", arguments: { number: "2" } });
  assert.match(prompt.messages[0].content.text, /xd:\/\/reject@2/);
  await one.close();

  const again = await client(folder);
  const kept = await call(again, "read", { path: "xd://resolve@2" });
  assert.match(text(kept), /\(pending\)/);
  const rejected = await write(again, "xd://reject@2", "Stale.");
  assert.equal(rejected.structuredContent.outcome, "discarded");
  await again.close();
  console.log("whole");
}

async function person() {
  const states = { accept: "applied", decline: "discarded", cancel: "pending" };
  for (const [action, state] of Object.entries(states)) {
    const folder = site();
    const asked = [];
    const answer = async (request) => {
      asked.push(request.params.message);
      return action === "accept" ? { action, content: { reason: "By hand." } } : { action };
    };
    const one = await client(folder, ["--ask", "person"], answer);
    await call(one, "ast_edit", rewrite);
    assert.equal(asked.length, 1);
    assert.match(asked[0], /\+ {4}new\(1\);/);
    const changed = readFileSync(join(folder, "a.rs"), "utf8").includes("new(1)");
    assert.equal(changed, action === "accept");
    const shown = await call(one, "read", { path: "xd://resolve@1" });
    assert.ok(text(shown).includes(`(${state})`), text(shown));
    await one.close();
  }
  // A client that cannot ask.
  const one = await client(site(), ["--ask", "person"]);
  await call(one, "ast_edit", rewrite);
  const refused = await write(one, "xd://resolve", "Please.");
  assert.ok(refused.isError && text(refused).includes("stays pending"), text(refused));
  await one.close();
  console.log("person");
}

async function overHttp() {
  const server = spawn(program, ["mcp", "-C", site(), "--http", "127.0.0.1:0"]);
  try {
    const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
    const [url, token] = (await lines.next()).value.split(" ");
    const connect = async (headers) => {
      const one = new Client({ name: "drive", version: "1" });
      const requestInit = { headers };
      await one.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
      return one;
    };
    await assert.rejects(connect({}));
    const authorised = { Authorization: `Bearer ${token}` };
    const one = await connect(authorised);
    const two = await connect(authorised);
    await call(one, "ast_edit", rewrite);
    const seen = await call(two, "read", { path: "xd://resolve@1" });
    assert.match(text(seen), /\(pending\)/);
    const done = await write(two, "xd://resolve@1", "Seen by two.");
    assert.equal(done.structuredContent.outcome, "applied");
    await one.close();
    await two.close();
  } finally {
    server.kill();
  }
  console.log("http");
}

await whole();
await person();
await overHttp();
console.log(JSON.stringify({ ok: true }));
process.exit(0);
