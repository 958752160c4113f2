/**
 * The tuple layer's encoding, written and read without boxed lists, and the errors of stored bytes:
 * damage, or a newer format.
 */
package lectus.tuple;
