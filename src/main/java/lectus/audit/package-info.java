/**
 * Whether all that a store holds agrees with itself: {@code lectus check}. Nothing is written here.
 * ARCHITECTURE.md, "What {@code lectus check} knows".
 */
package lectus.audit;
