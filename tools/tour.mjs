// Pictures of the page for doc/tour.md: tools/tour calls this.
import { createRequire } from 'node:module';
import { execFileSync } from 'node:child_process';

const { chromium } = createRequire(process.env.WEB_MODULES + '/page.js')('playwright-core');
const { STINT, SHOTS, JOB } = process.env;
const stint = (...args) => execFileSync(STINT, args, { encoding: 'utf8' }).trim();
const address = stint('open').split(/\s+/).find(word => word.startsWith('http'));

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox'] });
const page = await browser.newPage({ viewport: { width: 1100, height: 760 }, colorScheme: 'light' });
await page.goto(address);
await page.waitForSelector('h1');
const pages = { now: '', timeline: 'timeline', job: 'job/' + JOB, fairness: 'fairness', whatif: 'whatif', policy: 'policy', runs: 'runs' };
for (const [name, hash] of Object.entries(pages)) {
	await page.evaluate(to => { location.hash = '#/' + to; }, hash);
	await page.waitForTimeout(6000);
	if (name === 'whatif') { // what it says, not only what it asks
		await page.fill('input[placeholder="4:a100"]', '4:cpu');
		await page.getByRole('button', { name: 'Run it again' }).click();
		await page.waitForSelector('table', { timeout: 60000 }).catch(() => null);
		await page.waitForTimeout(500);
	}
	await page.screenshot({ path: `${SHOTS}/${name}.png` });
}
await page.setViewportSize({ width: 390, height: 760 });
await page.emulateMedia({ colorScheme: 'dark' });
await page.evaluate(() => { location.hash = '#/'; });
await page.waitForTimeout(3000);
await page.screenshot({ path: `${SHOTS}/phone.png` });
await browser.close();
