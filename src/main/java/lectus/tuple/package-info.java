/**
 * The tuple layer's encoding, written and read without boxed lists, and what can be wrong with
 * stored bytes: they are damaged, or of a newer format.
 */
package lectus.tuple;
