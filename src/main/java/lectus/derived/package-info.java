/**
 * What a document gives on its own: whether a selector matches it, and its values in indexes and
 * channels in stored feeds, with the definitions of these, their limits, numbers and states. {@link
 * lectus.derived.rows} encodes their rows.
 *
 * <p>The Mango selector language of CouchDB 3.5, evaluated on the leaves of documents (RFC 004).
 *
 * <p>Where CouchDB's documentation is silent, the semantics are those of its {@code
 * mango_selector}. A condition on a missing field does not hold, whatever its operator, except
 * {@code {"$exists": false}}. A negation is pushed down to the conditions, so {@code {"$not": {"a":
 * 1}}} does not hold for a document without {@code a} either. Within {@code $elemMatch}, {@code
 * $allMatch} and {@code $keyMapMatch} it is not pushed down, and treats a missing field as a
 * mismatch.
 *
 * <p>Differences from CouchDB:
 *
 * <ul>
 *   <li>Objects are compared in the order of the store, which does not keep the order of members:
 *       equal members make equal objects.
 *   <li>{@code $regex} has RE2's syntax, which matches in linear time: no backreferences, no
 *       assertions but {@code ^ $ \b \B \A \z}, no possessive or atomic groups, and {@code $} does
 *       not match before a final line end. It matches characters, not bytes.
 *   <li>{@code $nor} within {@code $elemMatch} and the like means that none of its conditions hold;
 *       in CouchDB such a selector matches nothing.
 *   <li>{@code $beginsWith} compares characters, not grapheme clusters.
 *   <li>{@code $text} is not supported; {@code {"$mod": [0, r]}} is a bad argument.
 *   <li>In names of fields {@code \\} is a backslash.
 * </ul>
 */
package lectus.derived;
