// Long tables: only the rows in view are elements, however many there are.
import { h } from './dom.js';

const spare = 8;

// columns: [{title, of(row) -> text or node, width ("minmax(…)"), num}].  set(rows) shows others.
// In a narrow window only those that have `narrow` (a width) are there, if any has, with room for `narrowLines`.
// `empty`: text or an element, shown where there are no rows.
export function rows(label, columns, { minWidth = 0, empty = 'nothing here', narrowLines = 1 } = {}) {
	const narrow = innerWidth < 720 && columns.some(c => c.narrow);
	if (narrow) {
		columns = columns.filter(c => c.narrow).map(c => ({ ...c, width: c.narrow, of: c.narrowOf ?? c.of }));
		minWidth = 0;
	}
	const rowHeight = narrow && narrowLines > 1 ? 10 + 20 * narrowLines : 30;
	const template = columns.map(c => c.width || 'minmax(4rem, 1fr)').join(' ');
	const body = h('div', { className: 'body', role: 'rowgroup' });
	const cells = (role, of) => columns.map(c => h('div', { role, className: c.num ? 'num' : null }, of(c)));
	const head = h('div', { role: 'row', className: 'headrow', 'aria-rowindex': '1', style: { gridTemplateColumns: template } }, cells('columnheader', c => c.title));
	const box = h('div', { className: 'rows' + (rowHeight > 30 ? ' tall' : ''), role: 'table', 'aria-label': label, tabindex: '0' }, h('div', { role: 'rowgroup' }, head), body);
	const note = h('div', { className: 'soft small', hidden: true }, empty);
	if (minWidth) box.style.setProperty('--width', minWidth + 'px');
	let all = [], shown = new Map(), frame = 0;

	function make(i) {
		const el = h('div', { role: 'row', 'aria-rowindex': String(i + 2), style: { gridTemplateColumns: template, top: i * rowHeight + 'px', height: rowHeight + 'px' } }, cells('cell', c => c.of(all[i])));
		for (const c of el.children) if (!c.title && !c.querySelector('[title]') && c.textContent.length > 12) c.title = c.textContent;
		return el;
	}
	function draw() {
		frame = 0;
		const first = Math.max(0, Math.floor((box.scrollTop - rowHeight) / rowHeight) - spare);
		const lastRow = Math.min(all.length, Math.ceil((box.scrollTop + box.clientHeight) / rowHeight) + spare);
		for (const [i, el] of shown) if (i < first || i >= lastRow) { el.remove(); shown.delete(i); }
		for (let i = first; i < lastRow; i++) {
			if (shown.has(i)) continue;
			const el = make(i);
			shown.set(i, el);
			body.append(el);
		}
	}
	const later = () => { frame ||= requestAnimationFrame(draw); };
	box.addEventListener('scroll', later, { passive: true });
	const watch = new ResizeObserver(later);
	watch.observe(box);
	const el = h('div', {}, box, note);
	el.set = list => {
		all = list;
		body.style.height = all.length * rowHeight + 'px';
		box.setAttribute('aria-rowcount', String(all.length + 1));
		note.hidden = all.length > 0;
		box.hidden = all.length === 0;
		// Those that have the focus stay where they are.
		const focus = body.contains(document.activeElement) ? document.activeElement.getAttribute('href') : null;
		for (const e of shown.values()) e.remove();
		shown = new Map();
		draw();
		if (focus) body.querySelector(`a[href="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
	};
	return el;
}
