/**
 * Views: what functions of design documents emit of each document, in the order of keys, and the
 * partial reductions above it.
 */
package lectus.view;
