// A Chromium of a test's own, without a window and without a word to the outside.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const FLAGS = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync',
];

/** Returns Playwright's browser context, the folder of its profile, and what ends both. */
export async function startBrowser(...flags) {
  const profile = await mkdtemp(join(tmpdir(), 'lectus-chromium-'));
  const browser = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.LECTUS_CHROMIUM,
    headless: true,
    args: [...FLAGS, ...flags],
    viewport: { width: 1280, height: 800 },
  });
  const stop = async () => {
    await browser.close();
    await rm(profile, { recursive: true, force: true });
  };
  return { browser, profile, stop };
}
