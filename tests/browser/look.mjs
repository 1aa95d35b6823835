// Screenshots for people: node look.mjs FILE.html OUT.png WIDTH [dark]
import { chromium } from 'playwright-core';
const [file, out, width, dark] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox'] });
const page = await browser.newPage({ viewport: { width: Number(width), height: 900 }, colorScheme: dark ? 'dark' : 'light' });
await page.goto(`file://${file}`);
await page.screenshot({ path: out, fullPage: true });
await browser.close();
