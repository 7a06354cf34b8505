// What runs where, and who waits for what.
import { h, fill, card, clock, colour, csvButton, duration, inkOn, jobName, legend, number, tenantName } from './dom.js';
import { get, inTurn, live, maybe } from './api.js';
import { endedTable, expected, failed, queueTable } from './queue.js';

const most = 20000, lately = 200;
const isIdle = (job, device) => Boolean(device.idle || job.idle || job.idle_s > 0 || job.state === 'CONFIGURING' || job.state === 'COMPLETING');
const drainedWords = device => device.drained ? `, drained${device.reason ? ': ' + device.reason : ''}` : '';
const idleWord = job => job.state === 'CONFIGURING' ? 'starting' : job.state === 'COMPLETING' ? 'stopping' : 'idle';

// One device: the same element again where nothing changed, so that focus and hover stay.
function deviceCell(node, device, jobs) {
	const job = jobs.get(device.jobs[0]), name = `${node.name} ${device.type} ${device.index}`;
	if (device.up === false) return h('span', { className: 'dev down', role: 'img', 'aria-label': `${name}: down` }, h('b', {}, device.index), h('span', {}, 'down'));
	if (!job && device.drained) return h('span', { className: 'dev drained', role: 'img', 'aria-label': name + drainedWords(device), title: name + drainedWords(device) }, h('b', {}, device.index), h('span', {}, 'drained'));
	if (!job) return h('span', { className: 'dev', role: 'img', 'aria-label': `${name}: free`, title: `${name}: free` }, h('b', {}, device.index), h('span', {}, 'free'));
	const fill = colour(job.tenant ?? ''), idle = isIdle(job, device);
	const names = device.jobs.map(id => jobs.has(id) ? jobName(jobs.get(id)) : String(id));
	const label = `${name}: job ${names.join(', ')} ${job.name}, tenant ${tenantName(job.tenant)}, ${job.state.toLowerCase()}${idle ? ', held but ' + idleWord(job) : ''}${job.idle ? ' for ' + duration(job.idle.for_s) : ''}${drainedWords(device)}`;
	return h('a', { className: 'dev' + (idle ? ' idle' : '') + (device.drained ? ' drained' : ''), href: '#/job/' + jobName(job), title: label, style: { backgroundColor: fill, color: inkOn(fill) } },
		h('b', {}, '#' + names.join(' #')), h('span', {}, idle ? idleWord(job) : job.name), h('small', { className: 'hidden' }, ' – ' + label));
}

function grid(nodes, jobs) {
	const count = nodes.reduce((n, node) => n + node.devices.length, 0);
	const many = count > 160;
	return h('div', { className: 'nodes' + (many ? ' many' : ''), ...(many ? { tabindex: '0', role: 'region', 'aria-label': 'Nodes' } : {}) }, nodes.map(node => h('div', { className: 'node' },
		h('h3', {}, node.name, ' ', h('span', { className: 'soft small' }, `${node.devices.length} × ${node.type}, ${node.devices.filter(d => d.up !== false && !d.drained && !d.jobs.length).length} free`)),
		h('ul', { 'aria-label': `Devices of ${node.name}` }, node.devices.map(d => h('li', {}, deviceCell(node, d, jobs)))))));
}

const figure = (title, value) => h('div', {}, h('dt', {}, title), h('dd', {}, value));

// What a count of the top shows when it is pressed: which list, and which of its jobs.
const kinds = {
	running: { of: 'queue', hit: j => j.state !== 'PENDING' },
	waiting: { of: 'queue', hit: j => j.state === 'PENDING' },
	finished: { of: 'ended', hit: j => j.state === 'COMPLETED' },
	failed: { of: 'ended', hit: failed },
};

export function show(place) {
	const counts = h('div', { className: 'part', role: 'group', 'aria-label': 'Counts; each shows its jobs only' }), figures = h('dl', { className: 'part' }), devices = h('div', {}), key = h('div', {}), note = h('p', { className: 'small soft' });
	const trouble = h('p', { className: 'wrong', role: 'alert', hidden: true });
	const filter = h('input', { id: 'queue-filter', type: 'search', placeholder: 'name, tenant, user, state', autocomplete: 'off' });
	const queue = queueTable(), past = endedTable(), endedCard = card('Ended lately', past);
	let data = null, ended = null, only = null, forecast; // undefined: not answered yet

	const matches = words => j => words.every(w => `#${jobName(j)} ${j.name} ${j.tenant ?? ''} ${j.user ?? ''} ${j.state} ${j.type ?? ''}`.toLowerCase().includes(w));
	function drawLists() {
		const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean), by = matches(words);
		const chosen = (list, name) => {
			const kind = kinds[only]?.of === name ? kinds[only].hit : null;
			return words.length || kind ? list.filter(j => (!kind || kind(j)) && by(j)) : list;
		};
		if (data) queue.set(chosen(data.jobs, 'queue'));
		if (ended) past.set(chosen(ended, 'ended'));
	}
	filter.addEventListener('input', drawLists);

	function press(name) {
		only = only === name ? null : name;
		drawCounts();
		drawLists();
		if (only) (kinds[only].of === 'ended' ? endedCard : queueCard).scrollIntoView({ block: 'nearest' });
	}
	// Made once: a button that is replaced between the press and the release of the pointer is not clicked.
	const buttons = Object.entries(kinds).map(([name, kind]) => {
		const n = h('b', {}, '–'), el = h('button', { id: 'count-' + name, type: 'button', className: 'figure', 'aria-pressed': 'false', title: kind.of === 'ended' ? `of the last ${lately} that ended` : null, onclick: () => press(name) }, h('span', {}, name + (kind.of === 'ended' ? ' lately' : '')), ' ', n);
		return { name, el, n };
	});
	counts.append(...buttons.map(b => b.el));
	function drawCounts() {
		const c = data?.counts, n = { running: c && c.RUNNING + c.CONFIGURING + c.COMPLETING, waiting: c?.PENDING, finished: ended?.filter(kinds.finished.hit).length, failed: ended?.filter(failed).length };
		for (const b of buttons) {
			b.n.textContent = number(n[b.name]);
			b.el.setAttribute('aria-pressed', String(only === b.name));
			b.el.classList.toggle('wrong', b.name === 'failed' && n.failed > 0);
		}
	}

	const expect = inTurn(() => maybe('/v1/forecast').catch(() => null));
	const recall = inTurn(() => get('/v1/jobs?state=ended&limit=' + lately).catch(() => null));

	async function load() {
		const [jobs, nodes] = await Promise.all([get('/v1/jobs?brief=true&limit=' + most), get('/v1/nodes')]);
		const byId = new Map(jobs.jobs.map(j => [j.id, j]));
		const all = nodes.nodes.flatMap(n => n.devices), held = all.filter(d => d.jobs.length).length;
		data = jobs;
		drawCounts();
		fill(figures, figure('devices held', `${number(held)} / ${number(all.length)}`), figure('policy', jobs.policy.split(':')[0]), figure('at', clock(jobs.now)));
		trouble.hidden = !jobs.trouble;
		trouble.textContent = jobs.trouble ? `The daemon cannot write its record: ${jobs.trouble}` : '';
		fill(devices, grid(nodes.nodes, byId));
		fill(key, legend([...new Set(jobs.jobs.filter(j => j.held_gpus).map(j => j.tenant ?? ''))].sort(), [h('li', {}, h('i', { style: { background: 'var(--free)' } }), 'free'), h('li', {}, h('i', { className: 'idle' }), 'held but idle'), h('li', {}, h('i', { className: 'drained' }), 'drained')]));
		drawExpected();
		// What runs and waits does not wait for the forecast, which takes longer to work out, nor for the past.
		expect(f => { forecast = f; drawExpected(); });
		recall(answer => {
			if (!answer) return;
			ended = answer.jobs.sort((a, b) => b.end - a.end);
			drawCounts();
			drawLists();
		});
	}

	function drawExpected() {
		const f = forecast && new Map(forecast.jobs.map(j => [j.id, j]));
		for (const j of data.jobs) j.expected = expected(j, f, data.now);
		note.textContent = [forecast === null ? 'Forecast: not available from this daemon; ends come from the jobs’ own progress.' : '', data.more ? `The first ${number(data.shown)} of ${number(data.total)} are shown.` : ''].filter(Boolean).join(' ');
		drawLists();
	}

	const csv = csvButton('Queue', () => [['job', 'name', 'user', 'tenant', 'gpus', 'state', 'wait_s', 'run_s', 'step', 'total', 'reason', 'expected', 'interval'],
		(data?.jobs ?? []).map(j => [jobName(j), j.name, j.user, j.tenant, j.held_gpus ?? j.gpus, j.state, j.wait_s, j.run_s, j.progress?.step, j.progress?.total, j.reason?.text, j.expected?.text, j.expected?.about])]);
	const queueCard = h('section', { className: 'card printed' }, h('div', { className: 'head' }, h('h2', {}, 'Queue'), h('span', { className: 'grow' }), h('label', { for: 'queue-filter', className: 'soft small' }, 'Filter'), filter, csv), queue, note);
	place.append(h('h1', {}, 'Now'), h('div', { className: 'figures' }, counts, figures), trouble, card('Devices', devices, key), queueCard, endedCard);
	const loop = live(load, { every: 5000 });
	return () => loop.stop();
}
