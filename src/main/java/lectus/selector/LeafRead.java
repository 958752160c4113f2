package lectus.selector;

/**
 * What a selector needs to see of each document.
 *
 * @param path as it follows a revision's key; empty for the whole document
 */
public record LeafRead(byte[] path, Extent extent) {}
