/**
 * Live tails: what a source has newly is read once for all listeners of a server that have caught
 * up.
 */
package lectus.feed.tail;
