/**
 * Edits as clients send them, single or in bulk: parsed in one pass, checked against all limits
 * that need no look into the database, and values from then on.
 */
package lectus.document.edit;
