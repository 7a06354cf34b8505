// The frame: who is logged in, which page is shown, and whether the daemon is there.
import { h, say, fill } from './dom.js';
import * as api from './api.js';

const pages = {
	now: { title: 'Now', load: () => import('./now.js'), first: ['/v1/jobs?brief=true&limit=20000', '/v1/nodes'] },
	timeline: { title: 'Timeline', load: () => import('./timeline.js'), first: ['/v1/timeline?since_s=3600'] },
	job: { title: 'Job', load: () => import('./job.js') },
	fairness: { title: 'Fairness', load: () => import('./fairness.js') },
	whatif: { title: 'What-if', load: () => import('./whatif.js') },
	runs: { title: 'Runs', load: () => import('./runs.js') },
	policy: { title: 'Policy', load: () => import('./policy.js') },
};

const main = document.getElementById('main');
let leave = null;   // ends the page shown
let turn = 0;       // counts page changes: what comes late is dropped
let inside = false; // logged in

function close() {
	try { leave?.(); } finally { leave = null; }
}

// ---- logging in

function showLogin(why) {
	turn++;
	close();
	inside = false;
	api.end();
	document.getElementById('logout').hidden = true;
	document.title = 'Log in – Stint';
	const wrong = h('p', { className: 'wrong', role: 'alert' }, why ?? '');
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
	} }, h('h1', {}, 'Log in'), h('p', {}, h('code', {}, 'stint open'), ' prints an address that logs in by itself. Or use the token in the file ', h('code', {}, 'token'), ' (or ', h('code', {}, 'token.read'), ', to look on) of the daemon’s state directory; it is not sent.'),
	h('div', { className: 'field' }, h('label', { for: 'token' }, 'Token'), token), wrong, h('button', { className: 'main', type: 'submit' }, 'Log in'));
	fill(main, form);
	token.focus();
}

// An address with a code: used once, and gone from the address bar before anything else.
async function useCode() {
	const found = location.hash.match(/^#code=([0-9a-f]+)$/);
	if (!found) return null;
	history.replaceState(null, '', location.pathname + '#/now');
	try { await api.loginByCode(found[1]); return null; } catch (problem) { return problem.message; }
}

// ---- pages

function route() {
	const [, name, ...rest] = (location.hash || '#/now').split('/');
	return { name: pages[name] ? name : 'now', args: rest.map(decodeURIComponent) };
}

async function show(focus) {
	if (!inside) return;
	const mine = ++turn, { name, args } = route();
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
	inside = true;
	document.getElementById('logout').hidden = false;
	api.ahead(pages[route().name].first ?? []);
	show(false);
	api.begin();
}

// ---- the frame itself

api.whenLoggedOut(() => { if (inside || !document.querySelector('.login')) showLogin(inside ? 'The session is over: please log in again.' : ''); });
api.followLink(state => {
	const el = document.getElementById('link');
	el.dataset.state = state;
	el.textContent = { live: 'live', waiting: 'connecting…', lost: 'daemon not reachable' }[state];
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
addEventListener('hashchange', () => { if (location.hash.startsWith('#/')) show(true); });
document.querySelector('.skip').addEventListener('click', e => { e.preventDefault(); main.focus(); });

const refused = await useCode();
if (refused) showLogin(refused);
else if (!api.hasKey()) showLogin();
else enter();
