package lectus.jobs;

import lectus.database.DatabaseName;
import lectus.database.InstanceId;
import lectus.database.Sequence;

/**
 * A job as it is stored.
 *
 * @param number of what is filled, in its database
 * @param until the last sequence of the transaction that defined it. Whatever is written later is
 *     written by those who know the definition
 * @param startedSeconds since 1970
 * @param documents about how many there were then, deleted ones included
 */
public record Job(
    InstanceId instance,
    long number,
    DatabaseName database,
    Sequence until,
    long startedSeconds,
    long documents) {}
