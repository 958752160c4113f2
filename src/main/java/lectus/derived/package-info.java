/**
 * Definitions of indexes and stored feeds, with their limits, numbers and states, and the values or
 * channels that a document has in them. {@link lectus.derived.rows} encodes their rows.
 */
package lectus.derived;
