"use strict";

const byId = (id) => document.getElementById(id);

// make builds an element. Text never becomes markup.
function make(tag, text, ...children) {
  const e = document.createElement(tag);
  if (text) e.textContent = text;
  e.append(...children);
  return e;
}

function resolve(doc, schema) {
  return schema && schema.$ref ? doc.components.schemas[schema.$ref.split("/").pop()] : schema;
}

// described returns the response that a reference leads to.
function described(doc, response) {
  return response.$ref ? doc.components.responses[response.$ref.split("/").pop()] : response;
}

// example makes a value out of the examples in a schema.
function example(doc, schema) {
  schema = resolve(doc, schema) || {};
  if (schema.examples) return schema.examples[0];
  if (schema.default !== undefined) return schema.default;
  if (schema.enum) return schema.enum[0];
  if (schema.properties) {
    return Object.fromEntries(Object.entries(schema.properties).map(([k, s]) => [k, example(doc, s)]));
  }
  return [].concat(schema.type).includes("array") ? [] : "";
}

function rules(schema) {
  const parts = [[].concat(schema.type || "any").join(" or ")];
  if (schema.enum) parts.push("one of " + schema.enum.join(", "));
  for (const key of ["minimum", "maximum", "maxLength", "maxItems", "pattern", "default"]) {
    if (schema[key] !== undefined) parts.push(key + " " + schema[key]);
  }
  return parts.join("; ");
}

function rows(head, list) {
  const table = make("table", "", make("tr", "", ...head.map((h) => make("th", h))));
  for (const cells of list) {
    table.append(make("tr", "", ...cells.map((c) => (c instanceof Node ? make("td", "", c) : make("td", c)))));
  }
  return table;
}

function parameters(op) {
  const fields = (op.parameters || []).map((p) => {
    const input = document.createElement("input");
    input.setAttribute("aria-label", p.name);
    return { p, input };
  });
  const table = rows(["parameter", "in", "meaning", "rules", "value"],
    fields.map(({ p, input }) => [p.name + (p.required ? " *" : ""), p.in, p.description || "", rules(p.schema), input]));
  return { fields, table };
}

function body(doc, op) {
  const content = op.requestBody && op.requestBody.content;
  if (!content) return null;
  const schema = resolve(doc, content[Object.keys(content)[0]].schema);
  const area = document.createElement("textarea");
  area.setAttribute("aria-label", "body");
  area.value = JSON.stringify(example(doc, schema), null, 2);
  const table = rows(["property", "meaning", "rules"], Object.entries(schema.properties).map(([name, s]) =>
    [name + ((schema.required || []).includes(name) ? " *" : ""), s.description || "", rules(s)]));
  return { area, table, type: Object.keys(content).sort().pop() };
}

function request(base, method, path, fields, payload) {
  const headers = {};
  const query = new URLSearchParams();
  for (const { p, input } of fields) {
    if (!input.value) continue;
    if (p.in === "path") path = path.replace("{" + p.name + "}", encodeURIComponent(input.value));
    if (p.in === "query") query.append(p.name, input.value);
    if (p.in === "header") headers[p.name] = input.value;
  }
  if (byId("token").value) headers.Authorization = "Bearer " + byId("token").value;
  if (byId("user").value) headers["X-Dev-User"] = byId("user").value;
  if (byId("roles").value) headers["X-Dev-Roles"] = byId("roles").value;
  if (payload) headers["Content-Type"] = payload.type;
  const search = query.toString();
  return fetch(base + path + (search ? "?" + search : ""),
    { method: method.toUpperCase(), headers, body: payload ? payload.area.value : undefined, cache: "no-store" });
}

async function show(sending, answer) {
  answer.textContent = "…";
  try {
    const r = await sending();
    const head = [...r.headers].map(([k, v]) => k + ": " + v).join("\n");
    let text = await r.text();
    try { text = JSON.stringify(JSON.parse(text), null, 2); } catch { /* not JSON: as it is */ }
    answer.textContent = r.status + " " + r.statusText + "\n" + head + "\n\n" + text;
  } catch (e) {
    answer.textContent = String(e);
  }
}

function operation(doc, base, path, method, op) {
  const { fields, table } = parameters(op);
  const payload = body(doc, op);
  const send = make("button", "Send");
  const answer = make("pre");
  const details = make("details", "",
    make("summary", "", make("b", method.toUpperCase()), make("code", path), op.summary || ""));
  if (fields.length) details.append(table);
  if (payload) details.append(payload.table, payload.area);
  details.append(rows(["status", "meaning"], Object.entries(op.responses).map(([s, r]) => [s, described(doc, r).description])), send, answer);
  send.addEventListener("click", () => show(() => request(base, method, path, fields, payload), answer));
  return details;
}

async function load() {
  const main = byId("operations");
  try {
    const doc = await (await fetch("openapi.json")).json();
    byId("title").textContent = doc.info.title + " " + doc.info.version;
    byId("about").textContent = doc.info.description;
    const groups = new Map();
    for (const [path, methods] of Object.entries(doc.paths)) {
      for (const [method, op] of Object.entries(methods)) {
        const group = op.tags[0];
        if (!groups.has(group)) groups.set(group, make("section", "", make("h2", group)));
        groups.get(group).append(operation(doc, doc.servers[0].url, path, method, op));
      }
    }
    main.replaceChildren(...groups.values());
  } catch (e) {
    main.textContent = "The document cannot be loaded: " + e;
  }
}

load();
