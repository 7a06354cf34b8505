// Elements, numbers and times.  All text goes in as text: nothing here parses markup.

export function h(name, attrs, ...children) {
	const el = document.createElement(name);
	for (const [key, value] of Object.entries(attrs || {})) {
		if (value === null || value === undefined || value === false) continue;
		if (key.startsWith('on')) el.addEventListener(key.slice(2), value);
		else if (key === 'style') Object.assign(el.style, value);
		else if (key === 'data') Object.assign(el.dataset, value);
		else if (key in el && key !== 'list' && key !== 'form' && typeof value !== 'string') el[key] = value;
		else el.setAttribute(key === 'className' ? 'class' : key, value === true ? '' : String(value));
	}
	el.append(...children.flat(Infinity).filter(c => c !== null && c !== undefined && c !== false).map(c => c instanceof Node ? c : String(c)));
	return el;
}

export function svg(name, attrs, ...children) {
	const el = document.createElementNS('http://www.w3.org/2000/svg', name);
	for (const [key, value] of Object.entries(attrs || {})) if (value !== null && value !== undefined) el.setAttribute(key, String(value));
	el.append(...children.flat(Infinity).filter(c => c).map(c => c instanceof Node ? c : String(c)));
	return el;
}

export function number(x, digits = 3) {
	if (x === null || x === undefined || !isFinite(x)) return '–';
	if (Number.isInteger(x)) return x.toLocaleString('en');
	return Number(x.toPrecision(digits)).toLocaleString('en', { maximumFractionDigits: 6 });
}

export function duration(s) {
	if (s === null || s === undefined || !isFinite(s)) return '–';
	const sign = s < 0 ? '-' : '', a = Math.abs(s);
	if (a < 0.0005) return '0s';
	if (a < 0.9995) return sign + Number((a * 1000).toPrecision(3)) + 'ms';
	if (a < 9.95) return sign + Number(a.toPrecision(2)) + 's';
	if (a < 59.5) return sign + Math.round(a) + 's';
	// As the command line writes it: two units at most, and none that is zero.
	const units = [['d', 86400], ['h', 3600], ['m', 60], ['s', 1]], first = a < 3599.5 ? 2 : a < 86370 ? 1 : 0;
	const [[big, size], [small, step]] = units.slice(first, first + 2), left = Math.round(a / step) * step, rest = Math.round(left % size / step);
	return sign + Math.floor(left / size) + big + (rest ? rest + small : '');
}

const two = x => String(x).padStart(2, '0');
export function clock(at, withSeconds = true) {
	if (!at) return '–';
	const d = new Date(at * 1000);
	const day = d.toDateString() === new Date().toDateString() ? '' : `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} `;
	return day + `${two(d.getHours())}:${two(d.getMinutes())}` + (withSeconds ? `:${two(d.getSeconds())}` : '');
}

// {p10,p50,p90} of moments, seen from now: the middle, the interval around it ('' where it is narrow), or both.
const beyond = x => x === null || x === undefined, late = 'more than 30 days';
export function moment(q, now) {
	if (!q) return '–';
	return beyond(q.p50) ? `in ${late}` : q.p50 <= now + 1 ? 'now' : 'in ' + duration(q.p50 - now);
}
export function interval(q, now) {
	if (!q || (!beyond(q.p90) && Math.abs(q.p90 - q.p10) < 2)) return '';
	return `${duration(Math.max(0, q.p10 - now))} – ${beyond(q.p90) ? late : duration(Math.max(0, q.p90 - now))}`;
}
export function moments(q, now) {
	const about = interval(q, now);
	return moment(q, now) + (about ? ` (${about})` : '');
}

// Each has a contrast of 3 and more to the cards of the light and of the dark page, and carries text in black or white.
const palette = ['#0072B2', '#D55E00', '#009E73', '#C9619A', '#B57C00', '#8E6BD1', '#8A8400', '#1B8E99', '#9A6A4F', '#5B9A2B'];
const nobodys = '#7A7A7A', coloursName = 'stint-colours';

// FNV-1a
function hashOf(name) {
	let x = 0x811c9dc5;
	for (const c of new TextEncoder().encode(name)) x = Math.imul(x ^ c, 0x01000193) >>> 0;
	return (x ^ x >>> 15) >>> 0;
}

// A tenant's colour follows from its name.  Where another has it already the next is taken, and kept in the browser.
let given = {};
const seen = new Map();
try { given = JSON.parse(localStorage.getItem(coloursName)) ?? {}; } catch { /* this once, then */ }
function choose(name) {
	if (Object.hasOwn(given, name) && palette[given[name]]) return palette[given[name]];
	const taken = new Set(Object.values(given)), first = hashOf(name) % palette.length;
	const free = palette.map((_, i) => (first + i) % palette.length).find(i => !taken.has(i));
	if (free === undefined) return palette[first];
	given[name] = free;
	try { localStorage.setItem(coloursName, JSON.stringify(given)); } catch { /* as above */ }
	return palette[free];
}
export function colour(name) {
	if (!name) return nobodys;
	if (!seen.has(name)) seen.set(name, choose(name));
	return seen.get(name);
}
const inks = new Map();
export function inkOn(hex) {
	if (!inks.has(hex)) inks.set(hex, darkOrLight(hex));
	return inks.get(hex);
}
function darkOrLight(hex) {
	const part = i => { const c = parseInt(hex.slice(i, i + 2), 16) / 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
	const light = 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5);
	return light > 0.18 ? '#000' : '#fff';
}
export function css(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }

export const stateWord = state => h('span', { className: 'state', data: { state } }, state ? state.toLowerCase().replace('_', ' ') : '–');
// An element of an array by its index: the first of them has the array's own number.
export const jobName = job => job.array_id ? `${job.array_id}_${job.array_index}` : String(job.id ?? job.job);
export const jobLink = (id, text) => h('a', { href: '#/job/' + id }, text ?? '#' + id);
export const tenantName = name => name || '(none)';

export function legend(names, extra = []) {
	return h('ul', { className: 'legend', 'aria-label': 'Legend' }, names.map(n => h('li', {}, h('i', { style: { background: colour(n) } }), tenantName(n))), extra);
}

// In a narrow window each row becomes a few lines of names and values, if there are more columns than fit: what is a
// table there says so by roles, which a change of layout takes from the elements themselves.
export function table(caption, columns, rows) {
	return h('div', { className: 'scroll' + (columns.length > 3 ? ' stack' : ''), tabindex: '0', role: 'region', 'aria-label': caption }, h('table', { role: 'table' },
		h('caption', {}, caption),
		h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, columns.map(c => h('th', { scope: 'col', role: 'columnheader', className: c.num ? 'num' : null }, c.title)))),
		h('tbody', { role: 'rowgroup' }, rows.map(row => h('tr', { role: 'row' }, columns.map(c => h('td', { role: 'cell', data: { title: c.title }, className: c.num ? 'num' : null }, c.of(row))))))));
}

// Spreadsheets run what begins with these.
const cell = value => {
	let text = value === null || value === undefined ? '' : String(value);
	if (typeof value === 'string' && /^[=+\-@\t\r]/.test(text)) text = "'" + text;
	return /[",\n\r]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
};
export function csvText(columns, rows) {
	return [columns, ...rows].map(row => row.map(cell).join(',')).join('\r\n') + '\r\n';
}
// A button that gives what a chart shows; data() answers [columns, rows].
export function csvButton(name, data) {
	return h('button', { type: 'button', 'aria-label': `${name}: data as CSV`, onclick: () => {
		const [columns, rows] = data();
		const url = URL.createObjectURL(new Blob([csvText(columns, rows)], { type: 'text/csv' }));
		const a = h('a', { href: url, download: `stint-${name.toLowerCase().replace(/[^a-z0-9]+/g, '-')}.csv` });
		document.body.append(a);
		a.click();
		a.remove();
		setTimeout(() => URL.revokeObjectURL(url), 10000);
	} }, 'CSV');
}

export const none = text => h('p', { className: 'none' }, text);
export const card = (title, ...children) => h('section', { className: 'card' }, title ? h('h2', {}, title) : null, ...children);

let timer;
export function say(text) {
	const el = document.getElementById('says');
	el.textContent = text;
	clearTimeout(timer);
	timer = setTimeout(() => { el.textContent = ''; }, 7000);
}

// Asks before something is done; answers whether to do it.
export function confirm(title, text, yes, no, { danger = false } = {}) {
	const dialog = document.getElementById('ask');
	document.getElementById('ask-title').textContent = title;
	document.getElementById('ask-text').textContent = text;
	document.getElementById('ask-yes').textContent = yes;
	document.getElementById('ask-yes').className = danger ? 'danger' : 'main';
	document.getElementById('ask-no').textContent = no;
	dialog.returnValue = 'no';
	dialog.showModal();
	return new Promise(done => dialog.addEventListener('close', () => done(dialog.returnValue === 'yes'), { once: true }));
}

// Replaces what is in an element, and keeps the focus on what is there again by its id.
export function fill(el, ...children) {
	const focused = el.contains(document.activeElement) ? document.activeElement.id : '';
	el.replaceChildren(...children.flat(Infinity).filter(Boolean));
	if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}
