/// The unit of `event_time`. Apple sends milliseconds; its documentation shows seconds.
public enum EventTimeUnit: String, Sendable, CaseIterable {
    case milliseconds = "ms"
    case seconds = "s"
}
