/**
 * What all packages below share: the rules for document ids, and the reads and parts of one answer.
 * Reading, writing and listing documents are the packages below. The bodies of leaf revisions: how
 * they lie in the store, and how they and what surrounds them are written as JSON (RFC 004). Which
 * revision wins is not known here.
 */
package lectus.document;
