// CouchDB's own dashboard, in a real browser, used as its users do.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { startBrowser } from './browser.mjs';
import { freshName, serverUrl } from './server.mjs';

const password = process.env.LECTUS_PASSWORD;
const basic = `Basic ${Buffer.from(`root:${password}`).toString('base64')}`;

let profile;
let browser;
let stop;
let page;
let complaints;
let db;

before(async () => {
  ({ browser, profile, stop } = await startBrowser());
  page = browser.pages()[0] ?? await browser.newPage();
  page.setDefaultTimeout(30_000);
  page.on('pageerror', error => complaints.push(String(error)));
  // Fauxton asks before it deletes; it never says anything with an alert.
  page.on('dialog', dialog => {
    if (dialog.type() === 'alert') {
      complaints.push(`alert: ${dialog.message()}`);
    }
    dialog.accept();
  });
  page.on('response', answer => {
    const path = new URL(answer.url()).pathname;
    if (answer.status() >= 500 && answer.status() !== 501) {
      complaints.push(`${answer.status()} ${path}`);
    }
  });
});

after(async () => {
  await stop?.();
});

beforeEach(async () => {
  db = freshName('fauxton');
  await own('PUT', '');
  complaints = [];
});

/** No error within the page, nothing that waits forever, no failure of the server. */
afterEach(async () => {
  await page.waitForFunction(() => document.querySelector('.loading-lines') === null);
  assert.deepEqual(complaints, []);
  await own('DELETE', '');
});

async function own(method, path, json) {
  const answer = await fetch(`${serverUrl}/${db}${path}`, {
    method,
    body: json && JSON.stringify(json),
    headers: { Authorization: basic, 'Content-Type': 'application/json' },
  });
  assert.ok(answer.ok, `${method} ${path}: ${answer.status}`);
  return answer.json();
}

/** Goes to a page as a link within Fauxton does. */
const visit = fragment => page.goto(`${serverUrl}/_utils/#/${fragment}`);

/** Shows a page whose data Fauxton asks for again. */
async function show(fragment) {
  if (page.url().endsWith(`#/${fragment}`)) {
    await page.reload();
  } else {
    await visit(fragment);
  }
}

/** Loads Fauxton anew, where it would show what it had before, or go on with what it did. */
async function anew(fragment) {
  await page.goto('about:blank');
  await visit(fragment);
}

async function logIn() {
  await show('login');
  await page.fill('#username', 'root');
  await page.fill('#password', password);
  await page.click('button[type=submit]');
  await told('You have been logged in.');
}

const told = text => page.locator('.Toastify__toast', { hasText: text }).first().waitFor();
const text = (within, said) => page.locator(within, { hasText: said }).first().waitFor();
const answerTo = (method, path) => page.waitForResponse(answer =>
  answer.request().method() === method
    && decodeURIComponent(new URL(answer.url()).pathname) === path);

const write = json => replace(JSON.stringify(json));

/** Gives the first editor of the page another text. */
async function replace(said) {
  await page.locator('.ace_editor').first().waitFor();
  await page.waitForFunction(() => document.querySelector('.ace_editor').env.editor.getValue() !== '');
  await page.evaluate(
    value => document.querySelector('.ace_editor').env.editor.setValue(value), said);
}

test('whoever is nobody sees a form, and a wrong password is told', async () => {
  await show('_all_dbs');
  await page.locator('#username').waitFor();
  await page.fill('#username', 'root');
  await page.fill('#password', 'wrong');
  await page.click('button[type=submit]');
  await told('Name or password is incorrect.');
});

test('log in', async () => {
  await logIn();
  await text('a', db);
});

test('a database is created and deleted', async () => {
  const name = freshName('made');
  await show('_all_dbs');
  await page.click('.add-new-database-btn');
  await page.fill('#js-new-database-name', name);
  const made = answerTo('PUT', `/${name}`);
  await page.locator('#js-new-database-name').press('Enter');
  assert.equal((await made).status(), 201);
  await page.waitForURL(url => url.hash.includes(name));

  await show('_all_dbs');
  const row = page.locator('tr', { has: page.getByText(name, { exact: true }) });
  await row.locator('[title*="Delete"]').click();
  await page.locator('.delete-db-modal input').fill(name);
  const deleted = answerTo('DELETE', `/${name}`);
  await page.locator('.delete-db-modal .btn-cancel, .delete-db-modal button.delete').last().click();
  assert.equal((await deleted).status(), 200);
});

test('a document is written, edited, copied and deleted', async () => {
  await anew(`database/${db}/_new`);
  await write({ _id: 'first', v: 1 });
  await page.getByText('Create Document').first().click();
  await told('Document saved successfully.');

  await anew(`database/${db}/first`);
  const { _rev } = await own('GET', '/first');
  await write({ _id: 'first', _rev, v: 2 });
  await page.getByText('Save Changes').first().click();
  await told('Document saved successfully.');
  assert.equal((await own('GET', '/first')).v, 2);

  await anew(`database/${db}/first`);
  await page.getByText('Clone Document').first().click();
  await page.locator('.modal-footer button', { hasText: 'Clone' }).click();
  await told('Document has been duplicated.');
  assert.equal((await own('GET', '')).doc_count, 2);

  await anew(`database/${db}/first`);
  await page.locator('.panel-button', { hasText: 'Delete' }).click();
  const deleted = answerTo('DELETE', `/${db}/first`);
  await page.locator('.modal-footer button', { hasText: 'Delete' }).click();
  assert.equal((await deleted).status(), 200);
});

test('documents are listed, whatever their ids look like', async () => {
  const id = '<img src=x onerror=alert(1)> ü/1';
  await own('PUT', `/${encodeURIComponent(id)}`, { text: 'hello' });
  await own('PUT', '/_design/d', { views: {} });
  await show(`database/${db}/_all_docs`);
  await text('td', id);
  await text('td', '_design/d');
  await show(`database/${db}/${encodeURIComponent(id)}`);
  await text('.ace_content', 'hello');
});

test('the changes', async () => {
  await own('PUT', '/early', { v: 1 });
  await show(`database/${db}/_changes`);
  await text('.change-box', 'early');
  await own('PUT', '/late', { v: 1 });
  await show(`database/${db}/_changes`);
  await text('.change-box', 'late');
  assert.equal(await page.locator('.change-box').count(), 2);
});

test('a conflict is seen and solved', async () => {
  await own('PUT', '/c?new_edits=false', { _rev: '1-a', v: 1 });
  await own('PUT', '/c?new_edits=false', { _rev: '1-b', v: 2 });
  await show(`database/${db}/c/conflicts`);
  await text('button', 'Select as Winner');
  await page.getByText('Select as Winner').click();
  const solved = answerTo('POST', `/${db}/_bulk_docs`);
  await page.locator('.modal-footer button').last().click();
  assert.equal((await solved).status(), 201);
  const { _conflicts } = await own('GET', '/c?conflicts=true');
  assert.equal(_conflicts, undefined);
});

test('who may read a database', async () => {
  await anew(`database/${db}/_all_docs`);
  await page.locator('#sidebar-content a', { hasText: 'Permissions' }).click();
  const section = page.locator('.permissions__members');
  await section.locator('input[placeholder=Username]').fill('jan');
  const saved = answerTo('PUT', `/${db}/_security`);
  await section.getByText('Add User').click();
  assert.equal((await saved).status(), 200);
  await text('.permissions__members li', 'jan');
  assert.deepEqual((await own('GET', '/_security')).members.names, ['jan']);
});

test('running tasks', async () => {
  await show('activetasks');
  await text('body', 'No active tasks.');
});

test('the configuration: a value is taken if the setting takes it', async () => {
  await show('_config');
  for (const [value, status] of [['86401', 400], ['700', 200]]) {
    await page.locator('tr', { hasText: 'max_age' }).first().locator('.config-show-value').click();
    await page.locator('.config-value-input').fill(value);
    const answer = page.waitForResponse(got => got.request().method() === 'PUT');
    await page.locator('.btn-config-save').click();
    assert.equal((await answer).status(), status);
    if (status === 400) {
      await told('must be a whole number from 0 to 86400');
      await show('_config');
    }
  }
});

test('pages of other origins are let in, and shut out again', async () => {
  const preflight = () =>
    fetch(`${serverUrl}/${db}`, {
      method: 'OPTIONS',
      headers: { Origin: 'https://app.example', 'Access-Control-Request-Method': 'PUT' },
    });
  // The page shows the new state before the server has taken all that makes it.
  const becomes = async granted => {
    for (let left = 200; left > 0; left--) {
      const answer = await preflight();
      if ((answer.status === 204) === granted) {
        return answer;
      }
      await new Promise(later => setTimeout(later, 50));
    }
    return assert.fail(`CORS did not become ${granted}`);
  };
  const { all_nodes: [node] } = await (
    await fetch(`${serverUrl}/_membership`, { headers: { Authorization: basic } })
  ).json();
  await show(`_config/${node}/cors`);
  await page.locator('button.enable-disable', { hasText: 'Enable CORS' }).click();
  await page.locator('input[name=all-domains]').click();
  const granted = await becomes(true);
  assert.equal(granted.headers.get('access-control-allow-origin'), 'https://app.example');
  assert.equal(granted.headers.get('access-control-allow-credentials'), 'true');
  await page.locator('button.enable-disable', { hasText: 'Disable CORS' }).click();
  await becomes(false);
});

test('set-up makes the databases of the system', async () => {
  await anew('setup');
  await page.click('#setup-btn-no-thanks');
  await page.fill('.setup-username', 'root');
  await page.fill('.setup-password', password);
  await page.getByRole('button', { name: 'Configure Node' }).click();
  await told('Single node setup successful.');
  await anew('setup');
  await text('body', 'configured for production usage');
  await show('_all_dbs');
  await text('a', '_users');
  await text('a', '_replicator');
});

test('the list of databases counts attachments', async () => {
  const bytes = new Uint8Array(300_000).map(() => Math.random() * 256);
  await fetch(`${serverUrl}/${db}/photo/photo`, {
    method: 'PUT', body: bytes, headers: { Authorization: basic, 'Content-Type': 'image/png' },
  });
  await show('_all_dbs');
  const line = page.locator('tr', { has: page.getByText(db, { exact: true }) });
  await line.getByText(/^29\d\.\d KB$/).waitFor();
});

test('pages about the server', async () => {
  await visit('changePassword');
  await text('h3', 'Change Password');
  await visit('createAdmin');
  await text('h3', 'Create Admins');
  await visit('documentation');
  await text('a', 'CouchDB Official Documentation');
  await visit('news');
  await text('button', 'Load News');
});

test('a replication is described, runs, and is shown', async () => {
  await own('PUT', '/first', { v: 1 });
  const copy = freshName('copy');
  await anew('replication');
  await text('body', 'There is no replicator-db activity or history to display.');
  await anew(`replication/_create/${db}`);
  await page.selectOption('select#replication-target', 'REPLICATION_TARGET_NEW_LOCAL_DATABASE');
  await page.fill('.replication__new-input', copy);
  for (const side of ['source', 'target']) {
    await page.selectOption(`select#select-replication-${side}-auth`, 'BASIC_AUTH');
    await page.fill(`#replication-${side}-auth-username`, 'root');
    await page.fill(`#replication-${side}-auth-password`, password);
  }
  const answer = page.waitForResponse(got =>
    got.request().method() === 'POST' && got.url().endsWith('/_replicator') && got.status() !== 404);
  await page.click('#replicate');
  assert.equal((await answer).status(), 201);
  const get = path => fetch(`${serverUrl}${path}`, { headers: { Authorization: basic } });
  const reached = async state => {
    while (!(await (await get(`/_scheduler/docs?states=${state}`)).text()).includes(copy)) {
      await new Promise(resolve => setTimeout(resolve, 50));
    }
    await anew('replication');
    const shown = page.locator('.replication__row-status', { hasText: new RegExp(state, 'i') });
    await shown.first().waitFor();
  };
  await reached('completed');
  assert.equal((await get(`/${copy}/first`)).status, 200);

  await page.click('[title="Edit replication"]');
  await page.locator('select', { hasText: 'Continuous' }).selectOption('REPLICATION_TYPE_CONTINUOUS');
  await page.fill('#replication-source-auth-password', password);
  await page.fill('#replication-target-auth-password', password);
  await page.click('#replicate');
  await page.click('.replication__error-continue');
  await reached('running');

  await page.click('[title^="Delete document"]');
  const deletion = page.locator('.replication_delete-doc-modal', { hasText: 'Verify Deletion' });
  await deletion.locator('button', { hasText: 'Delete' }).click();
  await text('body', 'There is no replicator-db activity or history to display.');
});

test('a view is shown and edited', async () => {
  await own('PUT', '/_design/d', { views: { v: { map: 'function (doc) { emit(doc.name, 1); }' } } });
  await own('PUT', '/first', { name: 'alice' });
  await show(`database/${db}/_design/d/_view/v`);
  await text('td', 'alice');

  await show(`database/${db}/_design/d/_view/v/edit`);
  await replace('function (doc) { emit(doc.name.toUpperCase(), 1); }');
  await page.locator('#save-view').click();
  await text('td', 'ALICE');

  await show(`database/${db}/_design/d/_info`);
  await text('body', 'javascript');
});

test('a query, and an attachment', async () => {
  await own('PUT', '/first', { v: 1 });
  const listed = answerTo('GET', `/${db}/_index`);
  await visit(`database/${db}/_index`);
  assert.equal((await listed).status(), 200);

  await visit(`database/${db}/_find`);
  const found = answerTo('POST', `/${db}/_find`);
  await page.getByText('Run Query').click();
  assert.equal((await found).status(), 200);

  await visit(`database/${db}/first`);
  await page.getByText('Upload Attachment').first().click();
  const file = join(profile, 'attachment.txt');
  await writeFile(file, 'text');
  await page.setInputFiles('input[type=file]', file);
  const stored = answerTo('PUT', `/${db}/first/attachment.txt`);
  await page.locator('.modal-footer button', { hasText: 'Upload' }).click();
  assert.equal((await stored).status(), 201);
});

test('its own check of an installation ends', async () => {
  await show('verifyinstall');
  await page.locator('#start, .btn-primary', { hasText: 'Verify Installation' }).click();
  for (const step of [
    'Create Database', 'Create Document', 'Update Document', 'Delete Document', 'Create View',
  ]) {
    await text('tr', `${step}✓`);
  }
});

test('log out', async () => {
  await anew('_all_dbs');
  await text('a', db);
  await anew('logout');
  await page.locator('#username').waitFor();
  await anew('_all_dbs');
  await page.locator('#username').waitFor();
  assert.equal(await page.evaluate(async () => (await fetch('/_all_dbs')).status), 401);
});
