// Asking the daemon, and hearing what happens.
//
// No secret is sent.  The page and the daemon each show that they know the token, or a code of
// `stint open`; the session's key follows from it on both sides, and signs every request (doc/web.md).
// Another program that has the port, once the daemon is gone, learns nothing that is of use to it.
import { chance, hmac } from './hmac.js';

let doubt = true; // whether what answers is the daemon that the session is with
const keyName = 'stint-session';
function stored() { try { return JSON.parse(localStorage.getItem(keyName)); } catch { return null; /* kept in memory only */ } }
let session = stored(); // { id, key, until }, or { why } it is over

export class Problem extends Error {
	constructor(status, text) { super(text); this.status = status; }
}

// Why there is no session any more: 'over' (the daemon does not know it: it was restarted), 'old' (its week has passed),
// 'stranger' (what answers cannot prove that it is the daemon), 'out' (logged out).
let onLogin = () => {}, onSession = () => {};
export function whenLoggedOut(then) { onLogin = then; }
export function whenLoggedIn(then) { onSession = then; } // in another tab
export const whyOut = () => session?.why ?? 'out';
export const hasKey = () => Boolean(session?.id && session?.key);

function keep(value) {
	session = value;
	try { localStorage.setItem(keyName, JSON.stringify(value)); } catch { /* as above */ }
}

// The other tabs of this page: a login in one is one in all.
addEventListener('storage', e => {
	if (e.key !== keyName) return;
	session = stored();
	doubt = true;
	if (hasKey()) onSession(); else onLogin(whyOut());
});

async function ask(path, { method = 'GET', headers = {}, ...options } = {}) {
	let answer;
	if (hasKey()) headers = { 'X-Stint-Session': `${session.id} ${hmac(session.key, `${method}\n${path}`)}`, ...headers };
	try {
		answer = await fetch(path, { credentials: 'omit', cache: 'no-store', method, headers, ...options });
	} catch {
		doubt = true;
		throw new Problem(0, 'the daemon does not answer');
	}
	if (answer.ok) return answer;
	let text = answer.statusText;
	try { text = (await answer.json()).detail || text; } catch { /* no problem document */ }
	throw new Problem(answer.status, text);
}

// ---- proving

const askJson = async (path, body) => (await ask(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) })).json();

// Asks for a challenge, and whether the daemon knows the secret.
async function challenge(secret, about) {
	const nonce = chance(), said = await askJson('/login', { nonce, ...about });
	const sign = what => hmac(secret, `stint ${what}\n${location.host}\n${nonce}\n${said.challenge}`);
	const proof = sign('server');
	return { nonce, challenge: said.challenge, sign, proven: proof === said.proof || proof === said.read_proof };
}

// After the connection was lost another program may have the port: nothing is asked before it has
// shown that it is the daemon that the session is with.
let proving = null;
async function prove() {
	try {
		const { proven } = await challenge(session.key, { session: session.id });
		if (!proven) throw Object.assign(new Problem(401, 'what answers is not the daemon that this session is with'), { stranger: true });
		doubt = false;
	} catch (problem) {
		if (problem.status === 0 || problem.status === 429 || problem.status >= 500) throw problem; // later, then
		throw Object.assign(new Problem(401, problem.message), { stranger: problem.stranger });
	}
}

// The session is refused.  A newer one of another tab takes its place; what a stranger says is no reason to forget it.
function refused(problem) {
	const other = stored();
	if (other?.id && other.id !== session?.id) { session = other; doubt = true; return true; }
	if (problem.stranger) onLogin('stranger'); else over();
	return false;
}
function over() {
	if (hasKey()) keep({ why: session.until < Date.now() / 1000 ? 'old' : 'over' });
	onLogin(whyOut());
}

async function send(path, options) {
	try {
		if (doubt && hasKey()) await (proving ??= prove().finally(() => { proving = null; }));
		return await ask(path, options);
	} catch (problem) {
		if (problem.status === 401 && refused(problem)) return send(path, options);
		throw problem;
	}
}

// While nothing is shown: is a daemon there, and is it the one that the session is with?
export async function knock() {
	try {
		if (hasKey()) { await prove(); return 'in'; }
		await ask('/healthz');
		return 'there';
	} catch (problem) {
		if (problem.status === 401 && !problem.stranger) over();
		return problem.status === 0 ? 'gone' : 'there';
	}
}

// What the page that is being loaded will ask for first: asked now, answered to the first who does.
const early = new Map();
export function ahead(paths) {
	for (const path of paths) {
		const answer = send(path);
		answer.catch(() => {}); // whoever asks is told
		early.set(path, { answer, until: performance.now() + 3000 });
	}
}
function sendOrTake(path) {
	const one = early.get(path);
	early.delete(path);
	return one && one.until > performance.now() ? one.answer : send(path);
}

export const get = async path => (await sendOrTake(path)).json();
export const text = async path => (await send(path)).text();
export const post = async (path, body) => (await send(path, {
	method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body ?? {}),
})).json();

// What other parts of Stint answer, where they are there: null if this daemon has no such route.
export async function maybe(path) {
	try { return await get(path); } catch (e) { if (e.status === 404 || e.status === 405) return null; throw e; }
}

// With a token or a code: `secret` is not sent, `about` is.
async function login(secret, about, why) {
	const before = session;
	session = null; // signs nothing meanwhile
	try {
		const met = await challenge(secret, about);
		if (!met.proven) throw new Problem(401, why);
		const said = await askJson('/login', { nonce: met.nonce, challenge: met.challenge, answer: met.sign('page'), ...about });
		keep({ id: said.session, key: met.sign('session'), until: Date.now() / 1000 + said.lasts_s });
		doubt = false;
	} finally {
		session ??= before;
	}
}
export const loginByToken = token => login(token, {}, 'The token is wrong, or this is not the daemon that it belongs to. Nothing was sent.');
export const loginByCode = code => login(code.slice(16), { code: code.slice(0, 16) }, 'This is not the daemon that made the code. Nothing was sent.');
export async function logout() { try { await post('/logout'); } finally { keep({ why: 'out' }); onLogin('out'); } }

// ---- events

const followers = new Set();
export function follow(then) { followers.add(then); return () => followers.delete(then); }
const linkFollowers = new Set();
let link = 'out';
export function followLink(then) { linkFollowers.add(then); then(link); }
export function setLink(state) {
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
	const answer = await send('/v1/events', { headers: more, signal });
	const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
	let rest = '';
	setLink('live');
	tell({ kind: 'again' }); // whatever was missed: look at all of it
	try {
		for (;;) {
			const { done, value } = await reader.read();
			if (done) return;
			rest += value;
			for (let end; (end = rest.indexOf('\n\n')) >= 0; rest = rest.slice(end + 2)) take(rest.slice(0, end));
		}
	} finally {
		doubt = true; // the stream ends where the daemon does, also when another program has the port at once
	}
}

// Follows until told to stop; comes back by itself, ever more slowly.
export async function begin() {
	if (reading) return;
	reading = new AbortController();
	const { signal } = reading;
	setLink('waiting');
	for (let wait = 300; !signal.aborted; wait = Math.min(wait * 1.7, 8000)) {
		const before = Date.now();
		try { await read(signal); } catch (e) { if (e.status === 401) { end(); return; } if (e.status === 400) last = null; }
		if (signal.aborted) return;
		if (Date.now() - before > 5000) wait = 300;
		setLink(wait > 3000 ? 'lost' : 'waiting');
		await new Promise(done => setTimeout(done, wait));
	}
}
export function end() { reading?.abort(); reading = null; setLink('out'); }

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
