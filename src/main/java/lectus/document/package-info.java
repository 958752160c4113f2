/**
 * What all rooms of documents share: the rules for ids, the reads and the parts of one answer.
 * Those that read, write and list documents are the packages below.
 */
package lectus.document;
