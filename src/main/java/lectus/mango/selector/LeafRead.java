package lectus.mango.selector;

/**
 * A part of each document that a selector needs.
 *
 * @param path as it follows a revision's key; empty for the whole document
 */
public record LeafRead(byte[] path, Extent extent) {}
