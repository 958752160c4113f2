/**
 * Databases that move to another place, a store or a cluster, while they are used. Each place knows
 * of a relocation what it has to decide.
 */
package lectus.relocation;
