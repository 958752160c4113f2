/**
 * Document ids, and bodies of leaf revisions (RFC 004): how they lie in the store, and how they are
 * written as JSON. Also the transactions and parts of a long answer. Which revision wins is decided
 * in {@link lectus.revision}.
 */
package lectus.document;
