/**
 * Edits, single or in bulk, as values: parsed in one pass, and checked against all limits that do
 * not depend on the database.
 */
package lectus.document.edit;
