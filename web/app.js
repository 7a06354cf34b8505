// The frame: who is logged in, which page is shown, and whether the daemon is there.
import { h, say, fill } from './dom.js';
import * as api from './api.js';

const pages = {
	now: { title: 'Now', load: () => import('./now.js'), first: ['/v1/jobs?brief=true&limit=20000', '/v1/nodes'] },
	timeline: { title: 'Timeline', load: () => import('./timeline.js'), first: ['/v1/timeline?since_s=3600'] },
	job: { title: 'Job', load: () => import('./job.js') },
	fairness: { title: 'Fairness', load: () => import('./fairness.js') },
	usage: { title: 'Usage', load: () => import('./usage.js') },
	whatif: { title: 'What-if', load: () => import('./whatif.js') },
	runs: { title: 'Runs', load: () => import('./runs.js') },
	policy: { title: 'Policy', load: () => import('./policy.js') },
};

const main = document.getElementById('main');
let leave = null;   // ends the page shown
let turn = 0;       // counts page changes: what comes late is dropped
let inside = false; // logged in
let view = '#/now'; // what is shown, or was before the login

function close() {
	try { leave?.(); } finally { leave = null; }
}

// ---- logging in

const reasons = {
	over: ['Daemon restarted: log in again with ', h('code', {}, 'stint open'), '. This tab, too, goes on where it was.'],
	old: ['The session has lasted a week and is over: log in again with ', h('code', {}, 'stint open'), '.'],
	stranger: ['What answers at this address is not the daemon that this session is with; it was sent nothing. This tab tries again by itself. If the daemon has another port now, ', h('code', {}, 'stint open'), ' prints it.'],
	out: [''],
};

function showFrame(shown) {
	inside = shown;
	for (const id of ['pages', 'find', 'logout']) document.getElementById(id).hidden = !shown;
}

function showLogin(why) {
	turn++;
	close();
	showFrame(false);
	api.end();
	document.title = 'Log in – Stint';
	const wrong = h('p', { id: 'login-why', className: 'wrong', role: 'alert' }, why);
	const token = h('input', { id: 'token', type: 'password', autocomplete: 'current-password', required: true, spellcheck: 'false' });
	const form = h('form', { className: 'card login', onsubmit: async e => {
		e.preventDefault();
		try {
			await api.loginByToken(token.value.trim());
			token.value = '';
			enter();
		} catch (problem) {
			wrong.textContent = problem.message;
			token.select();
		}
	} }, h('h1', {}, 'Log in'), wrong, h('p', {}, 'Run ', h('code', {}, 'stint open'), ' on the daemon’s machine and open the address that it prints, here or in another tab.'),
	h('details', { open: true }, h('summary', {}, 'With the token'), h('p', { className: 'small soft' }, 'From the file ', h('code', {}, 'token'), ' (or ', h('code', {}, 'token.read'), ', to look on) of the daemon’s state directory. It is not sent.'),
		h('div', { className: 'field' }, h('label', { for: 'token' }, 'Token'), token), h('button', { className: 'main', type: 'submit' }, 'Log in')));
	fill(main, form);
	token.focus();
	knocking();
}

// As long as the login is shown: whether a daemon is there, and whether the session is good after all.
async function knocking() {
	for (const mine = turn; mine === turn && !inside;) {
		const found = await api.knock();
		if (mine !== turn || inside) return;
		if (found === 'in') return enter();
		api.setLink(found === 'gone' ? 'lost' : 'out');
		await new Promise(done => setTimeout(done, 4000));
	}
}

// An address with a code, also in a tab that is open: used once, and gone from the address bar before anything else.
async function useCode() {
	const found = location.hash.match(/^#code=([0-9a-f]+)$/);
	if (!found) return false;
	history.replaceState(null, '', location.pathname + view);
	try {
		await api.loginByCode(found[1]);
		enter();
	} catch (problem) {
		if (inside) say(problem.message); else showLogin([problem.message]);
	}
	return true;
}

// ---- pages

function route() {
	const [, name, ...rest] = (location.hash || '#/now').split('/');
	return { name: pages[name] ? name : 'now', args: rest.map(decodeURIComponent) };
}

async function show(focus) {
	if (!inside) return;
	const mine = ++turn, { name, args } = route();
	view = location.hash || '#/now';
	close();
	for (const a of document.querySelectorAll('#nav a')) {
		if (a.getAttribute('href') === '#/' + name) a.setAttribute('aria-current', 'page'); else a.removeAttribute('aria-current');
	}
	document.title = `${pages[name].title}${args[0] ? ' ' + args[0] : ''} – Stint`;
	const place = h('div', { id: 'page', data: { page: name } });
	try {
		const page = await pages[name].load();
		if (mine !== turn) return;
		fill(main, place);
		if (focus) main.focus({ preventScroll: true });
		if (focus) scrollTo(0, 0);
		leave = page.show(place, args) ?? null;
	} catch (problem) {
		if (mine === turn) fill(main, h('p', { className: 'wrong', role: 'alert' }, `This page could not be shown: ${problem.message}`));
	}
}

function enter() {
	showFrame(true);
	api.ahead(pages[route().name].first ?? []);
	show(false);
	api.begin();
}

// ---- the frame itself

api.whenLoggedOut(why => {
	const shown = document.getElementById('login-why');
	if (inside || !shown) showLogin(reasons[why]); else fill(shown, reasons[why]);
});
api.whenLoggedIn(() => { if (!inside) enter(); });
api.followLink(state => {
	const el = document.getElementById('link');
	el.dataset.state = state;
	el.textContent = { live: 'live', waiting: 'connecting…', lost: 'daemon not reachable', out: 'not logged in' }[state];
});
document.getElementById('logout').addEventListener('click', () => api.logout().catch(() => {}));
document.getElementById('theme').addEventListener('click', () => {
	const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
	document.documentElement.dataset.theme = dark ? 'light' : 'dark';
	try { localStorage.setItem('stint-theme', document.documentElement.dataset.theme); } catch { /* this once, then */ }
	document.dispatchEvent(new Event('stint-theme'));
});
document.getElementById('find').addEventListener('submit', e => {
	e.preventDefault();
	const field = document.getElementById('find-job'), id = field.value.trim().replace(/^#/, '');
	if (/^\d+(_\d+)?$/.test(id)) { location.hash = '#/job/' + id; field.value = ''; } else say('A job’s number is wanted, such as 7 or 7_3.');
});
addEventListener('hashchange', async () => { if (location.hash.startsWith('#/')) show(true); else await useCode(); });
document.querySelector('.skip').addEventListener('click', e => { e.preventDefault(); main.focus(); });

if (!await useCode()) {
	if (location.hash.startsWith('#/')) view = location.hash;
	if (api.hasKey()) enter(); else showLogin(reasons[api.whyOut()]);
}
