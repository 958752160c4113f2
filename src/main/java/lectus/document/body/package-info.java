/**
 * The bodies of leaf revisions: how they lie in the store, and how they and what surrounds them are
 * written as JSON (RFC 004). Which revision wins is not known here.
 */
package lectus.document.body;
