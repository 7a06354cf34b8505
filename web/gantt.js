// Devices by time on a canvas: zoom, pan, hover, click, keys.
//
// Spans are kept by row in order of time, so that drawing costs what is in view,
// and what is narrower than a pixel is drawn once.
import { h, colour, css, clock, duration, inkOn, jobName, number } from './dom.js';

const gutter = 92, axis = 24, rowMin = 3, rowMax = 26;
const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 1209600, 2592000, 7776000];

// First index whose `to` is after t; ends grow along a row, since a device has one job at a time (or nearly).
function firstAfter(list, t) {
	let low = 0, high = list.length;
	while (low < high) {
		const mid = (low + high) >> 1;
		if (list[mid].reach > t) high = mid; else low = mid + 1;
	}
	return low;
}

export class Gantt {
	// options: label, relative (times are seconds from 0), open(span), height
	constructor(options) {
		this.options = options;
		this.rows = [];
		this.rowOf = new Map();
		this.from = 0; this.to = 1; this.top = 0;
		this.now = null;
		this.follows = false;
		this.canvas = h('canvas', { tabindex: '0', role: 'img', 'aria-label': options.label + '. Arrow keys move, plus and minus zoom, N shows now, square brackets choose a span, Enter opens its job. The same is in the table below.' });
		this.tip = h('div', { className: 'tip', hidden: true });
		this.said = h('div', { className: 'hidden', role: 'status', 'aria-live': 'polite' });
		this.el = h('div', { className: 'gantt' }, this.canvas, this.tip, this.said);
		this.frame = 0;
		this.frames = null; // of a measurement: times of drawing
		this.listen();
	}

	// devices: [{node, device, type, up}], spans: [{job, node, devices, from, to, tenant, name, …, sure?}]
	set(devices, spans, { now = null, from, to, keep = false } = {}) {
		const key = (node, device) => node + '\u0000' + device;
		this.rows = devices.map(d => ({ ...d, spans: [] }));
		this.rowOf = new Map(this.rows.map((r, i) => [key(r.node, r.device), i]));
		this.now = now;
		for (const span of spans) {
			const end = span.to ?? now ?? span.from;
			for (const device of span.devices) {
				const row = this.rowOf.get(key(span.node, Number(device)));
				if (row !== undefined) this.rows[row].spans.push({ span, from: span.from, to: end, reach: end });
			}
		}
		for (const row of this.rows) {
			row.spans.sort((a, b) => a.from - b.from);
			let reach = -Infinity;
			for (const s of row.spans) s.reach = reach = Math.max(reach, s.to);
		}
		this.min = from; this.max = to;
		if (!keep) { this.from = from; this.to = to; this.top = 0; this.follows = now !== null; }
		else if (this.follows && this.lastNow) { const move = now - this.lastNow; this.from += move; this.to += move; }
		this.lastNow = now;
		this.paint();
	}

	get width() { return this.canvas.clientWidth; }
	get room() { return this.width - this.gutter; }
	get gutter() { return this.width < 500 ? 56 : gutter; }
	get rowHeight() {
		const body = this.height - axis;
		return Math.max(rowMin, Math.min(rowMax, this.zoomRows ?? body / Math.max(1, this.rows.length)));
	}
	get height() { return this.options.height ?? Math.max(120, Math.min(560, axis + this.rows.length * 22)); }
	x(t) { return this.gutter + (t - this.from) / (this.to - this.from) * this.room; }
	time(x) { return this.from + (x - this.gutter) / this.room * (this.to - this.from); }

	paint() { this.frame ||= requestAnimationFrame(() => { this.frame = 0; this.draw(); }); }

	draw() {
		const began = performance.now();
		const ratio = devicePixelRatio || 1, w = this.width, hgt = this.height;
		if (!w) return;
		this.canvas.style.height = hgt + 'px';
		if (this.canvas.width !== Math.round(w * ratio) || this.canvas.height !== Math.round(hgt * ratio)) {
			this.canvas.width = Math.round(w * ratio);
			this.canvas.height = Math.round(hgt * ratio);
		}
		this.colours ||= { card: css('--card'), ink: css('--ink'), soft: css('--soft'), line: css('--line'), wash: css('--wash'), bad: css('--bad'), accent: css('--accent') };
		const c = this.canvas.getContext('2d', { alpha: false });
		c.setTransform(ratio, 0, 0, ratio, 0, 0);
		c.fillStyle = this.colours.card;
		c.fillRect(0, 0, w, hgt);
		this.drawGrid(c, w, hgt);
		this.drawRows(c, w, hgt);
		this.drawNow(c, hgt);
		this.drawLabels(c, hgt);
		this.frames?.push(performance.now() - began);
	}

	drawGrid(c, w, hgt) {
		const span = this.to - this.from, want = Math.max(2, Math.floor(this.room / 95));
		const step = steps.find(s => span / s <= want) ?? span / want;
		c.font = '11px system-ui, sans-serif';
		c.textBaseline = 'middle';
		c.textAlign = 'center';
		const zone = this.options.relative ? 0 : new Date(this.from * 1000).getTimezoneOffset() * 60;
		for (let t = Math.ceil((this.from - zone) / step) * step + zone; t <= this.to; t += step) {
			const x = Math.round(this.x(t)) + 0.5;
			c.fillStyle = this.colours.line;
			c.fillRect(x, axis - 5, 1, hgt);
			c.fillStyle = this.colours.soft;
			const label = this.options.relative ? (step >= 86400 ? number(t / 86400) + ' d' : step >= 3600 ? number(t / 3600) + ' h' : step >= 60 ? number(t / 60) + ' min' : number(t) + ' s')
				: step >= 86400 ? new Date(t * 1000).toLocaleDateString('en', { month: 'short', day: 'numeric' }) : clock(t, step < 60);
			if (x > this.gutter + 20 && x < w - 20) c.fillText(label.length > 12 ? label.slice(5) : label, x, axis / 2 - 2);
		}
	}

	drawRows(c, w, hgt) {
		const rh = this.rowHeight, gap = rh > 8 ? 2 : rh > 4 ? 1 : 0;
		const first = Math.max(0, Math.floor(this.top / rh)), lastRow = Math.min(this.rows.length, Math.ceil((this.top + hgt - axis) / rh));
		const texts = rh >= 13;
		c.save();
		c.beginPath();
		c.rect(this.gutter, axis, w - this.gutter, hgt - axis);
		c.clip();
		c.textAlign = 'left';
		// Asked once: an element's width is never free.
		const g = this.gutter, room = w - g, scale = room / (this.to - this.from);
		this.drawn = 0;
		for (let r = first; r < lastRow; r++) {
			const row = this.rows[r], y = axis + r * rh - this.top;
			if (row.up === false) { c.fillStyle = this.colours.bad; c.globalAlpha = 0.15; c.fillRect(g, y, room, rh - gap); c.globalAlpha = 1; }
			let covered = -Infinity; // as far as this row is painted, in pixels
			for (let i = firstAfter(row.spans, this.from); i < row.spans.length; i++) {
				const s = row.spans[i];
				if (s.from > this.to) break;
				let x0 = g + (s.from - this.from) * scale;
				const x1 = Math.min(w, g + (s.to - this.from) * scale);
				if (x1 < covered + 0.7 && s.span !== this.chosen) continue;
				x0 = Math.max(x0, g, covered < x1 - 0.7 ? -Infinity : covered);
				const wide = Math.max(0.8, x1 - x0 - (x1 - x0 > 4 ? 1 : 0));
				this.drawSpan(c, s.span, x0, y, wide, rh - gap, texts);
				covered = x0 + wide;
				this.drawn++;
			}
		}
		c.restore();
	}

	drawSpan(c, span, x, y, wide, high, texts) {
		const fill = colour(span.tenant ?? '');
		c.fillStyle = fill;
		if (span.sure !== undefined) {
			// The future: lighter the less sure, and striped.
			c.globalAlpha = 0.18 + 0.37 * span.sure;
			c.fillRect(x, y, wide, high);
			c.globalAlpha = 0.9;
			c.strokeStyle = fill;
			c.lineWidth = 1;
			if (wide > 3 && high > 3) { c.setLineDash([3, 2]); c.strokeRect(x + 0.5, y + 0.5, wide - 1, high - 1); c.setLineDash([]); }
			c.globalAlpha = 1;
		} else {
			c.fillRect(x, y, wide, high);
			if (span.end === 'FAILED' || span.end === 'NODE_FAIL' || span.end === 'TIMEOUT') { c.fillStyle = this.colours.bad; c.fillRect(x + wide - Math.min(3, wide), y, Math.min(3, wide), high); }
		}
		if (span === this.chosen || (this.hovered && span.job === this.hovered.job && this.rows.length < 300)) {
			c.strokeStyle = this.colours.ink;
			c.lineWidth = span === this.chosen ? 2 : 1;
			c.strokeRect(x + 0.5, y + 0.5, Math.max(1, wide - 1), Math.max(1, high - 1));
		}
		if (texts && wide > 26) {
			const label = '#' + jobName(span) + (span.name ? ' ' + span.name : '');
			const fits = Math.floor((wide - 6) / 6.2);
			c.fillStyle = span.sure !== undefined ? this.colours.ink : inkOn(fill);
			c.fillText(label.length > fits ? label.slice(0, Math.max(1, fits - 1)) + '…' : label, x + 3, y + high / 2 + 0.5);
		}
	}

	drawNow(c, hgt) {
		if (this.now === null) return;
		const x = this.x(this.now);
		if (x < this.gutter || x > this.width) return;
		c.fillStyle = this.colours.bad;
		c.fillRect(x - 0.75, axis - 6, 1.5, hgt);
		c.textAlign = x > this.width - 30 ? 'right' : 'left';
		c.fillText('now', x + (x > this.width - 30 ? -3 : 3), axis - 5);
	}

	drawLabels(c, hgt) {
		const rh = this.rowHeight, g = this.gutter;
		c.fillStyle = this.colours.card;
		c.fillRect(0, axis, g - 1, hgt);
		c.fillStyle = this.colours.ink;
		c.textAlign = 'left';
		c.textBaseline = 'middle';
		let node = null;
		const first = Math.max(0, Math.floor(this.top / rh)), lastRow = Math.min(this.rows.length, Math.ceil((this.top + hgt - axis) / rh));
		let free = axis; // labels must not run into each other
		for (let r = first; r < lastRow; r++) {
			const row = this.rows[r], y = axis + r * rh - this.top;
			const label = rh >= 11 ? `${row.node}:${row.device}` : row.node !== node ? row.node : '';
			node = row.node;
			if (!label || y + Math.max(rh, 11) / 2 - 5 < free) continue;
			const fits = Math.floor((g - 8) / 6.3);
			c.fillText(label.length > fits ? '…' + label.slice(label.length - fits + 1) : label, 4, y + Math.max(rh, 11) / 2);
			free = y + Math.max(rh, 11) / 2 + 6;
		}
		c.textBaseline = 'middle';
	}

	at(x, y) {
		const row = this.rows[Math.floor((y - axis + this.top) / this.rowHeight)];
		if (!row || y < axis || x < this.gutter) return null;
		const t = this.time(x), slack = 2 * (this.to - this.from) / this.room;
		for (let i = firstAfter(row.spans, t - slack); i < row.spans.length && row.spans[i].from <= t + slack; i++)
			if (row.spans[i].to >= t - slack) return row.spans[i].span;
		return null;
	}

	text(span) {
		const t = x => this.options.relative ? duration(x) : clock(x);
		return [`#${jobName(span)}${span.name ? ' ' + span.name : ''}`, span.tenant ? 'tenant ' + span.tenant : '', `${span.node}: ${span.devices.length} device${span.devices.length === 1 ? '' : 's'} (${span.devices.join(', ')})`,
			`${t(span.from)} – ${span.to === null || span.to === undefined ? 'now' : t(span.to)} (${duration((span.to ?? this.now ?? span.from) - span.from)})`,
			span.sure !== undefined ? `forecast, ${Math.round(span.sure * 100)} % of the futures` : span.end ? span.end.toLowerCase() : ''].filter(Boolean).join('\n');
	}

	// Moves by a part of what is seen, and stays near what there is.
	shift(part, down = 0) {
		const span = this.to - this.from;
		let move = span * part;
		const low = this.min - span * 0.9, high = this.max + span * 0.9;
		if (this.from + move < low) move = low - this.from;
		if (this.to + move > high) move = high - this.to;
		this.from += move; this.to += move;
		this.top = Math.max(0, Math.min(this.top + down, this.rows.length * this.rowHeight - (this.height - axis)));
		if (move) this.follows = false;
		this.paint();
	}
	zoom(factor, at = (this.from + this.to) / 2) {
		const span = Math.max(2, Math.min((this.to - this.from) * factor, (this.max - this.min) * 3 + 10));
		const part = (at - this.from) / (this.to - this.from);
		this.from = at - span * part; this.to = this.from + span;
		this.follows = false;
		this.paint();
	}
	zoomRow(factor) { this.zoomRows = Math.max(rowMin, Math.min(rowMax, this.rowHeight * factor)); this.shift(0); }
	whole() { this.from = this.min; this.to = this.max; this.zoomRows = undefined; this.top = 0; this.follows = this.now !== null; this.paint(); }
	showNow() { if (this.now === null) return; const span = this.to - this.from; this.from = this.now - span * 0.7; this.to = this.from + span; this.follows = true; this.paint(); }

	choose(step) {
		const seen = [...new Set(this.rows.flatMap(r => r.spans.filter(s => s.to >= this.from && s.from <= this.to).map(s => s.span)))].sort((a, b) => a.from - b.from);
		if (!seen.length) return;
		const i = seen.indexOf(this.chosen);
		this.chosen = seen[i < 0 ? (step > 0 ? 0 : seen.length - 1) : (i + step + seen.length) % seen.length];
		this.said.textContent = this.text(this.chosen).replaceAll('\n', ', ');
		this.paint();
	}

	showTip(span, x, y) {
		this.tip.hidden = !span;
		if (!span) return;
		this.tip.textContent = this.text(span);
		this.tip.style.left = Math.min(x + 14, Math.max(0, this.width - this.tip.offsetWidth - 4)) + 'px';
		this.tip.style.top = y + 16 + 'px';
	}

	listen() {
		const el = this.canvas, place = e => { const r = el.getBoundingClientRect(); return [e.clientX - r.left, e.clientY - r.top]; };
		let drag = null;
		el.addEventListener('pointerdown', e => { drag = { x: e.clientX, y: e.clientY, moved: 0 }; el.setPointerCapture(e.pointerId); });
		el.addEventListener('pointermove', e => {
			const [x, y] = place(e);
			if (drag) {
				const dx = e.clientX - drag.x, dy = e.clientY - drag.y;
				drag.moved += Math.abs(dx) + Math.abs(dy);
				drag.x = e.clientX; drag.y = e.clientY;
				if (drag.moved > 4) { el.classList.add('dragging'); this.showTip(null); this.shift(-dx / this.room, e.pointerType === 'mouse' ? -dy : 0); }
				return;
			}
			const span = this.at(x, y);
			if (span !== this.hovered) { this.hovered = span; if (this.rows.length < 300) this.paint(); }
			el.style.cursor = span ? 'pointer' : '';
			this.showTip(span, x, y);
		});
		el.addEventListener('pointerup', e => {
			const clicked = drag && drag.moved <= 4;
			drag = null;
			el.classList.remove('dragging');
			const span = clicked && this.at(...place(e));
			if (span) this.options.open?.(span);
		});
		el.addEventListener('pointercancel', () => { drag = null; el.classList.remove('dragging'); });
		el.addEventListener('pointerleave', () => { this.showTip(null); if (this.hovered) { this.hovered = null; this.paint(); } });
		el.addEventListener('wheel', e => {
			if (!e.ctrlKey && !e.metaKey && !e.shiftKey && Math.abs(e.deltaY) > Math.abs(e.deltaX)) {
				// The wheel scrolls rows where there are more than fit; else, and beyond their end, the page.
				const most = this.rows.length * this.rowHeight - (this.height - axis);
				if (most <= 0 || (e.deltaY > 0 ? this.top >= most : this.top <= 0)) return;
				e.preventDefault();
				this.shift(0, e.deltaY);
				return;
			}
			e.preventDefault();
			if (e.ctrlKey || e.metaKey) this.zoom(Math.exp(Math.max(-50, Math.min(50, e.deltaY)) * 0.006), this.time(place(e)[0]));
			else this.shift((e.shiftKey ? e.deltaY || e.deltaX : e.deltaX) / this.room);
		}, { passive: false });
		el.addEventListener('keydown', e => {
			const does = { ArrowLeft: () => this.shift(-0.12), ArrowRight: () => this.shift(0.12), ArrowUp: () => this.shift(0, -60), ArrowDown: () => this.shift(0, 60),
				PageUp: () => this.shift(0, -300), PageDown: () => this.shift(0, 300), '+': () => this.zoom(0.7), '=': () => this.zoom(0.7), '-': () => this.zoom(1.4), Home: () => this.whole(),
				n: () => this.showNow(), N: () => this.showNow(), ']': () => this.choose(1), '[': () => this.choose(-1), Enter: () => this.chosen && this.options.open?.(this.chosen),
				Escape: () => { this.chosen = null; this.paint(); } }[e.key];
			if (!does || e.ctrlKey || e.metaKey || e.altKey) return;
			e.preventDefault();
			does();
		});
		new ResizeObserver(() => this.paint()).observe(el);
		matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { this.colours = null; this.paint(); });
		document.addEventListener('stint-theme', () => { this.colours = null; this.paint(); });
	}

	// Buttons for those who have no wheel.
	controls() {
		const b = (text, label, does) => h('button', { type: 'button', 'aria-label': /\w/.test(text) ? null : label, title: label, onclick: does }, text);
		return h('div', { className: 'buttons', role: 'group', 'aria-label': 'Move and zoom' }, b('◀', 'Earlier', () => this.shift(-0.3)), b('▶', 'Later', () => this.shift(0.3)), b('+', 'Zoom in', () => this.zoom(0.6)), b('−', 'Zoom out', () => this.zoom(1.6)),
			b('⇕', 'Taller rows', () => this.zoomRow(1.6)), b('Whole', 'Show all of it', () => this.whole()), this.options.relative ? null : b('Now', 'Show now', () => this.showNow()));
	}
}
