// Asking the daemon, and hearing what happens.
//
// The session is a cookie that this script cannot read, and a key that it keeps
// and sends along; neither is worth anything without the other.

const keyName = 'stint-key';
let key = null;
try { key = localStorage.getItem(keyName); } catch { /* kept in memory only */ }

export class Problem extends Error {
	constructor(status, text) { super(text); this.status = status; }
}

let onLogin = () => {};
export function whenLoggedOut(then) { onLogin = then; }
export const hasKey = () => Boolean(key);

function keep(value) {
	key = value;
	try { if (value) localStorage.setItem(keyName, value); else localStorage.removeItem(keyName); } catch { /* as above */ }
}

function headers(more) {
	return key ? { 'X-Stint-Key': key, ...more } : { ...more };
}

async function send(path, options) {
	let answer;
	try {
		answer = await fetch(path, { credentials: 'same-origin', cache: 'no-store', ...options });
	} catch {
		throw new Problem(0, 'the daemon does not answer');
	}
	if (answer.ok) return answer;
	let text = answer.statusText;
	try { text = (await answer.json()).detail || text; } catch { /* no problem document */ }
	if (answer.status === 401 && path !== '/login') onLogin();
	throw new Problem(answer.status, text);
}

// What the page that is being loaded will ask for first: asked now, answered to the first who does.
const early = new Map();
export function ahead(paths) {
	for (const path of paths) {
		const answer = send(path, { headers: headers() });
		answer.catch(() => {}); // whoever asks is told
		early.set(path, { answer, until: performance.now() + 3000 });
	}
}
function sendOrTake(path) {
	const one = early.get(path);
	early.delete(path);
	return one && one.until > performance.now() ? one.answer : send(path, { headers: headers() });
}

export const get = async path => (await sendOrTake(path)).json();
export const text = async path => (await send(path, { headers: headers() })).text();
export const post = async (path, body) => (await send(path, {
	method: 'POST', headers: headers({ 'Content-Type': 'application/json' }), body: JSON.stringify(body ?? {}),
})).json();

// What other parts of Stint answer, where they are there: null if this daemon has no such route.
export async function maybe(path) {
	try { return await get(path); } catch (e) { if (e.status === 404 || e.status === 405) return null; throw e; }
}

export async function login(how) { keep((await post('/login', how)).key); }
export async function logout() { try { await post('/logout'); } finally { keep(null); onLogin(); } }

// ---- events

const followers = new Set();
export function follow(then) { followers.add(then); return () => followers.delete(then); }
const linkFollowers = new Set();
let link = 'waiting';
export function followLink(then) { linkFollowers.add(then); then(link); }
function setLink(state) {
	if (state === link) return;
	link = state;
	for (const f of linkFollowers) f(state);
}
function tell(event) { for (const f of followers) f(event); }

let last = null;      // number of the last event
let reading = null;   // AbortController while we read

function take(block) {
	let kind = 'message', data = '', id = null;
	for (const line of block.split('\n')) {
		if (line.startsWith('event: ')) kind = line.slice(7);
		else if (line.startsWith('data: ')) data += line.slice(6);
		else if (line.startsWith('id: ')) id = line.slice(4);
	}
	if (id !== null) last = id;
	if (!data) return;
	try { tell({ kind, ...JSON.parse(data) }); } catch { /* not for us */ }
}

async function read(signal) {
	const more = last !== null ? { 'Last-Event-ID': last } : {};
	const answer = await send('/v1/events', { headers: headers(more), signal });
	const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
	let rest = '';
	setLink('live');
	tell({ kind: 'again' }); // whatever was missed: look at all of it
	for (;;) {
		const { done, value } = await reader.read();
		if (done) return;
		rest += value;
		for (let end; (end = rest.indexOf('\n\n')) >= 0; rest = rest.slice(end + 2)) take(rest.slice(0, end));
	}
}

// Follows until told to stop; comes back by itself, ever more slowly.
export async function begin() {
	if (reading) return;
	reading = new AbortController();
	const { signal } = reading;
	for (let wait = 300; !signal.aborted; wait = Math.min(wait * 1.7, 8000)) {
		const before = Date.now();
		try { await read(signal); } catch (e) { if (e.status === 401) { end(); return; } if (e.status === 400) last = null; }
		if (signal.aborted) return;
		if (Date.now() - before > 5000) wait = 300;
		setLink(wait > 3000 ? 'lost' : 'waiting');
		await new Promise(done => setTimeout(done, wait));
	}
}
export function end() { reading?.abort(); reading = null; setLink('waiting'); }

// Asks for something slow, one at a time: whoever comes meanwhile goes without, and looks again soon.
export function inTurn(ask) {
	let busy = false;
	return async done => {
		if (busy) return;
		busy = true;
		try { done(await ask()); } finally { busy = false; }
	};
}

// Calls load() now, and again when something happened: at most every second, and
// never more than a tenth of the time.
export function live(load, { kinds = null, every = 0 } = {}) {
	let stopped = false, due = true, timer = null, busy = false;
	async function run() {
		timer = null;
		if (stopped || busy) return;
		busy = true;
		due = false;
		const began = performance.now();
		try { await load(); } catch (e) { if (e.status !== 0 && e.status !== 401 && e.status !== 503) console.warn(e.message); }
		busy = false;
		const took = performance.now() - began;
		if (stopped) return;
		const wait = Math.max(1000, took * 10);
		if (due) plan(wait);
		else if (every) { due = false; timer = setTimeout(() => { timer = null; run(); }, Math.max(every, wait)); }
		earliest = performance.now() + wait;
	}
	let earliest = 0;
	function plan(wait) {
		if (timer) clearTimeout(timer);
		timer = setTimeout(run, Math.max(0, wait));
	}
	const off = follow(event => {
		if (kinds && event.kind !== 'again' && !kinds.includes(event.kind)) return;
		due = true;
		if (!busy) plan(earliest - performance.now());
	});
	const first = run();
	return { stop() { stopped = true; off(); clearTimeout(timer); }, now() { due = true; if (!busy) plan(0); }, first };
}
