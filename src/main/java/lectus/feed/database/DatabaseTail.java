package lectus.feed.database;

import java.util.Optional;
import lectus.database.InstanceId;
import lectus.database.Sequence;

/**
 * Where one life of a database stands.
 *
 * @param isOver the database was deleted, and perhaps created again under its name
 * @param last its update sequence; empty if nothing was ever written
 */
public record DatabaseTail(InstanceId instance, boolean isOver, Optional<Sequence> last) {}
