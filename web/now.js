// What runs where, and who waits for what.
import { h, fill, card, clock, colour, csvButton, duration, inkOn, jobLink, legend, moments, number, stateWord, tenantName } from './dom.js';
import { get, inTurn, live, maybe } from './api.js';
import { rows } from './rows.js';

const most = 20000;
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
	const label = `${name}: job ${device.jobs.join(', ')} ${job.name}, tenant ${tenantName(job.tenant)}, ${job.state.toLowerCase()}${idle ? ', held but ' + idleWord(job) : ''}${job.idle ? ' for ' + duration(job.idle.for_s) : ''}${drainedWords(device)}`;
	return h('a', { className: 'dev' + (idle ? ' idle' : '') + (device.drained ? ' drained' : ''), href: '#/job/' + job.id, title: label, style: { backgroundColor: fill, color: inkOn(fill) } },
		h('b', {}, '#' + device.jobs.join(' #')), h('span', {}, idle ? idleWord(job) : job.name), h('small', { className: 'hidden' }, ' – ' + label));
}

function grid(nodes, jobs) {
	const count = nodes.reduce((n, node) => n + node.devices.length, 0);
	const many = count > 160;
	return h('div', { className: 'nodes' + (many ? ' many' : ''), ...(many ? { tabindex: '0', role: 'region', 'aria-label': 'Nodes' } : {}) }, nodes.map(node => h('div', { className: 'node' },
		h('h3', {}, node.name, ' ', h('span', { className: 'soft small' }, `${node.devices.length} × ${node.type}, ${node.devices.filter(d => d.up !== false && !d.drained && !d.jobs.length).length} free`)),
		h('ul', { 'aria-label': `Devices of ${node.name}` }, node.devices.map(d => h('li', {}, deviceCell(node, d, jobs)))))));
}

const figure = (title, value) => h('div', {}, h('dt', {}, title), h('dd', {}, value));

function queueTable() {
	return rows('Queue', [
		{ title: 'Job', width: '4.6rem', narrow: '3.2rem', of: j => jobLink(j.id) },
		{ title: 'Name', width: 'minmax(7rem, 1fr)', narrow: 'minmax(0, 1fr)', of: j => j.name },
		{ title: 'Tenant', width: 'minmax(5rem, .6fr)', of: j => tenantName(j.tenant) },
		{ title: 'GPUs', width: '3.6rem', num: true, of: j => j.held_gpus ?? j.gpus ?? 0 },
		{ title: 'State', width: '8rem', narrow: '5.6rem', of: j => stateWord(j.state) },
		{ title: 'Waited', width: '5.4rem', num: true, of: j => duration(j.wait_s) },
		{ title: 'Why it waits', width: 'minmax(12rem, 3fr)', narrow: 'minmax(0, 1.5fr)', of: j => j.reason?.text ?? '' },
		{ title: 'Start or end expected', width: 'minmax(11rem, 1.4fr)', of: j => j.expected },
	], { minWidth: 980, empty: 'No job runs or waits.' });
}

// A start is expected of one that waits, an end of one that runs.
function expected(job, forecast, now) {
	const f = forecast?.get(job.id);
	if (job.state === 'PENDING') return f?.start ? 'starts ' + moments(f.start, now) : f ? 'not within the forecast' : '–';
	if (f?.finish) return 'ends ' + moments(f.finish, now);
	return job.eta_s !== undefined && job.eta_s !== null ? 'ends in ' + duration(job.eta_s) : '–';
}

export function show(place) {
	const figures = h('dl', { className: 'figures' }), devices = h('div', {}), key = h('div', {}), note = h('p', { className: 'small soft' });
	const trouble = h('p', { className: 'wrong', role: 'alert', hidden: true });
	const filter = h('input', { id: 'queue-filter', type: 'search', placeholder: 'name, tenant, user, state', autocomplete: 'off' });
	const queue = queueTable();
	let data = null, forecast; // undefined: not answered yet

	function drawQueue() {
		const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
		const hit = j => words.every(w => `#${j.id} ${j.name} ${j.tenant ?? ''} ${j.user ?? ''} ${j.state} ${j.type ?? ''}`.toLowerCase().includes(w));
		queue.set(words.length ? data.jobs.filter(hit) : data.jobs);
	}
	filter.addEventListener('input', () => data && drawQueue());

	const expect = inTurn(() => maybe('/v1/forecast').catch(() => null));

	async function load() {
		const [jobs, nodes] = await Promise.all([get('/v1/jobs?brief=true&limit=' + most), get('/v1/nodes')]);
		const byId = new Map(jobs.jobs.map(j => [j.id, j]));
		const all = nodes.nodes.flatMap(n => n.devices), held = all.filter(d => d.jobs.length).length;
		data = jobs;
		fill(figures, figure('running', number(jobs.counts.RUNNING + jobs.counts.CONFIGURING + jobs.counts.COMPLETING)), figure('waiting', number(jobs.counts.PENDING)),
			figure('devices held', `${number(held)} / ${number(all.length)}`), figure('policy', jobs.policy.split(':')[0]), figure('at', clock(jobs.now)));
		trouble.hidden = !jobs.trouble;
		trouble.textContent = jobs.trouble ? `The daemon cannot write its record: ${jobs.trouble}` : '';
		fill(devices, grid(nodes.nodes, byId));
		fill(key, legend([...new Set(jobs.jobs.filter(j => j.held_gpus).map(j => j.tenant ?? ''))].sort(), [h('li', {}, h('i', { style: { background: 'var(--free)' } }), 'free'), h('li', {}, h('i', { className: 'idle' }), 'held but idle'), h('li', {}, h('i', { className: 'drained' }), 'drained')]));
		drawExpected();
		// Who runs and waits does not wait for the forecast, which takes longer to work out.
		expect(f => { forecast = f; drawExpected(); });
	}

	function drawExpected() {
		const f = forecast && new Map(forecast.jobs.map(j => [j.id, j]));
		for (const j of data.jobs) j.expected = expected(j, f, data.now);
		note.textContent = [forecast === null ? 'Forecast: not available from this daemon; ends come from the jobs’ own progress.' : '', data.more ? `The first ${number(data.shown)} of ${number(data.total)} are shown.` : ''].filter(Boolean).join(' ');
		drawQueue();
	}

	place.append(h('h1', {}, 'Now'), figures, trouble, card('Devices', devices, key),
		h('section', { className: 'card printed' }, h('div', { className: 'head' }, h('h2', {}, 'Queue'), h('span', { className: 'grow' }), h('label', { for: 'queue-filter', className: 'soft small' }, 'Filter'), filter,
			csvButton('Queue', () => [['job', 'name', 'user', 'tenant', 'gpus', 'state', 'wait_s', 'reason', 'expected'], (data?.jobs ?? []).map(j => [j.id, j.name, j.user, j.tenant, j.held_gpus ?? j.gpus, j.state, j.wait_s, j.reason?.text, j.expected])])), queue, note));
	const loop = live(load, { every: 5000 });
	return () => loop.stop();
}
