/**
 * What all packages below share: the rules for document ids, and the reads and parts of one answer.
 * Reading, writing and listing documents are the packages below.
 */
package lectus.document;
