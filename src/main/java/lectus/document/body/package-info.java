/**
 * The bodies of leaf revisions: how they lie in the store, and how they and what surrounds them are
 * written as JSON (RFC 004).
 */
package lectus.document.body;
