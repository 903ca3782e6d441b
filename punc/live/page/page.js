"use strict";
const $ = (id) => document.getElementById(id);
const input = $("input"), result = $("result");
let source = null;  // the punctuated input: its text, its bytes, its name, and whether it is a transcript
let answer = null;  // the JSON of the server
let socket = null, sent = "", decided = [];  // for live words: the connection, the text sent so far, and the answers

function fail(message) {
  $("error").textContent = message;
  $("error").hidden = !message;
}

async function call(path, body, type) {
  const response = await fetch(path, { method: "POST", body, headers: { "content-type": type } })
    .catch(() => { throw Error("the server does not answer; is it still running?"); });
  if (response.ok) return response;
  const { error, remedy } = await response.json().catch(() => ({ error: `status ${response.status}`, remedy: "try again later" }));
  throw Error(`${error}; ${remedy}`);
}

function query(more) {
  return new URLSearchParams({ model: $("model").value, ...more });
}

/** Show a word with its probability. Highlight the capitals that it did not have `before`. */
function wordElement(text, before, probability) {
  const element = document.createElement("span");
  element.className = "word";
  for (const letter of text) {
    const added = letter !== letter.toLowerCase() && !before.includes(letter);
    const part = added ? document.createElement("b") : document.createTextNode(letter);
    if (added) {
      part.className = "capital";
      part.textContent = letter;
    }
    element.append(part);
  }
  element.normalize();
  if (probability === undefined) return element;
  const percent = `${Math.round(100 * probability)}\u00a0%`;
  element.title = percent;
  if (probability < .8) element.classList.add(probability < .5 ? "sure1" : "sure2");
  const number = document.createElement("small");
  number.textContent = ` ${percent}`;
  element.append(number);
  return element;
}

function show(parts, words) {
  result.replaceChildren(...parts);
  const unsure = result.querySelectorAll(".sure1, .sure2").length;
  $("status").textContent = `${words} words, ${unsure} with a probability under 80\u00a0%`;
  $("output").hidden = false;
}

/** Show the words of a punctuated text, with the text's own spaces between them. */
function showText({ text, words }) {
  const parts = [];
  let end = 0;
  for (const word of words) {
    const begin = Math.max(end, text.indexOf(word.text, end));
    parts.push(text.slice(end, begin), wordElement(word.text, word.word, word.probability));
    end = begin + word.text.length;
  }
  show([...parts, text.slice(end)], words.length);
}

function showTranscript({ segments }) {
  const had = source.text.normalize(), parts = [];
  let speaker, count = 0;
  for (const segment of segments) {
    if (segment.speaker !== speaker && (speaker = segment.speaker)) {
      const name = document.createElement("span");
      name.className = "speaker";
      name.textContent = speaker;
      parts.push(name);
    }
    for (const { word, label_probability: probability } of segment.words) {
      const text = word.trim(), bare = text.replace(/[^\p{L}\p{N}'’.-]+$/u, "").replace(/\.$/, "");
      parts.push(wordElement(text, had.includes(bare) ? text : "", probability), " ");
      count += 1;
    }
  }
  show(parts, count);
}

async function punctuate() {
  fail("");
  try {
    if (source.transcript) {
      answer = await (await call(`v1/transcript?${query({ to: "json", name: source.name })}`, source.body, "text/plain")).json();
      showTranscript(answer);
    } else {
      answer = await (await call(`v1/punctuate?${query()}`, JSON.stringify({ text: source.text }), "application/json")).json();
      showText(answer);
    }
  } catch (error) {
    fail(error.message);
  }
}

function useInput() {
  const text = input.value;
  source = { text, body: text, name: "text", transcript: /^\s*(?:[{[]|WEBVTT)|-->/.test(text) };
}

async function useFile(file) {
  if (!file) return;
  stopLive();
  input.value = await file.text();
  source = { text: input.value, body: file, name: file.name, transcript: true };
  await punctuate();
}

async function download(to) {
  fail("");
  try {
    let content = to === "json" ? JSON.stringify(answer, null, 1) : answer && answer.text;
    if (to === "srt" || to === "vtt" || (source.transcript && to === "text")) {
      const path = `v1/transcript?${query({ to, name: source.name })}`;
      content = await (await call(path, source.body, "text/plain")).text();
    }
    const link = document.createElement("a"), ending = { text: "txt" }[to] || to;
    link.href = URL.createObjectURL(new Blob([content], { type: "text/plain;charset=utf-8" }));
    link.download = `${source.name.replace(/\.\w+$/, "")}.${ending}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  } catch (error) {
    fail(error.message);
  }
}

function stopLive() {
  $("live").checked = false;
  if (socket) socket.close();
  socket = null;
}

function startLive() {
  if (socket) socket.close();
  sent = "";
  decided = [];
  const model = $("model").selectedOptions[0];
  const wanted = { output: "json", max_delay: 1, ...(model.dataset.live ? { model: model.value } : {}) };
  const mine = socket = new WebSocket(`${location.href.replace(/^http/, "ws").replace(/[^/]*$/, "")}v1/live?${new URLSearchParams(wanted)}`);
  socket.onopen = sendNew;
  socket.onmessage = ({ data }) => {
    if (mine !== socket) return;
    const message = JSON.parse(data);
    if (message.error) fail(message.error);
    if (message.text) decided.push(message);
    showLive();
  };
  socket.onclose = ({ reason }) => {
    if (mine === socket && $("live").checked) {
      stopLive();
      fail(`the connection ended: ${reason || "the server does not answer"}; start again`);
    }
  };
}

/** Send new complete words. If text that was already sent has changed, start a new stream. */
function sendNew() {
  if (!socket || socket.readyState !== WebSocket.OPEN) return;
  const text = input.value;
  if (!text.startsWith(sent)) {
    startLive();
    return;
  }
  const end = text.search(/\S*$/);
  const words = text.slice(sent.length, end).match(/\S+/g) || [];
  for (let begin = 0; begin < words.length; begin += 100) socket.send(`${words.slice(begin, begin + 100).join(" ")} `);
  sent = text.slice(0, end);
  showLive();
}

function showLive() {
  const parts = decided.flatMap((word) => [wordElement(word.text, word.word, word.probability), " "]);
  const rest = document.createElement("span"), words = input.value.split(/\s+/).filter(Boolean);
  rest.className = "waiting";
  rest.textContent = words.slice(decided.length).join(" ");
  show([...parts, rest], decided.length);
  useInput();
  source.transcript = false;
  answer = { text: decided.map((word) => word.text).join(" "), words: decided };
}

$("form").onsubmit = (event) => {
  event.preventDefault();
  stopLive();
  useInput();
  punctuate();
};
input.onkeydown = (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) $("form").requestSubmit();
};
input.oninput = () => { if ($("live").checked) sendNew(); };
$("live").onchange = () => {
  fail("");
  if ($("live").checked) startLive(); else stopLive();
};
$("file").onchange = () => useFile($("file").files[0]);
$("numbers").onchange = () => result.classList.toggle("numbers", $("numbers").checked);
document.ondragover = (event) => { event.preventDefault(); input.classList.add("over"); };
document.ondragleave = () => input.classList.remove("over");
document.ondrop = (event) => {
  event.preventDefault();
  input.classList.remove("over");
  const { files } = event.dataTransfer;
  if (files.length) useFile(files[0]); else input.value = event.dataTransfer.getData("text");
};
for (const button of document.querySelectorAll("[data-to]")) button.onclick = () => download(button.dataset.to);
fetch("v1/models").then((response) => response.json()).then(({ models }) => {
  for (const { name, language, live } of models) {
    const option = new Option(language ? `${name} (${language})` : name, name);
    if (live) option.dataset.live = "true";
    $("model").append(option);
  }
  document.body.dataset.ready = "true";
}).catch(() => fail("the server does not answer; is it still running?"));
