package lectus.feed.database;

import java.util.Optional;
import lectus.database.InstanceId;
import lectus.database.Sequence;

/**
 * The state of one life of a database.
 *
 * @param isOver whether the database was deleted, and perhaps created again under its name
 * @param last its update sequence; empty if nothing was ever written
 */
public record DatabaseTail(InstanceId instance, boolean isOver, Optional<Sequence> last) {}
