/**
 * The Mango selector language of CouchDB 3.5, evaluated on the leaves of documents (RFC 004).
 *
 * <p>Where its documentation is silent the semantics are those of CouchDB's {@code mango_selector}:
 * a condition on a missing field does not hold, whatever its operator, but for {@code {"$exists":
 * false}}; a negation is pushed down to the conditions, so {@code {"$not": {"a": 1}}} does not hold
 * for a document without {@code a} either; within {@code $elemMatch}, {@code $allMatch} and {@code
 * $keyMapMatch} it is not pushed down and takes a missing field for a mismatch.
 *
 * <p>What differs from CouchDB:
 *
 * <ul>
 *   <li>Objects are compared in the order of the store, which keeps no order of members: equal
 *       members make equal objects.
 *   <li>{@code $regex} has RE2's syntax, whose matching takes linear time: no backreferences, no
 *       assertions but {@code ^ $ \b \B \A \z}, no possessive or atomic groups, and {@code $} does
 *       not match before a final line end. It matches characters, not bytes.
 *   <li>{@code $nor} within {@code $elemMatch} and its like means none of its conditions; CouchDB
 *       lets such a selector match nothing.
 *   <li>{@code $beginsWith} compares characters, not grapheme clusters.
 *   <li>{@code $text} is not supported; {@code {"$mod": [0, r]}} is a bad argument.
 *   <li>In names of fields {@code \\} is a backslash.
 * </ul>
 */
package lectus.selector;
