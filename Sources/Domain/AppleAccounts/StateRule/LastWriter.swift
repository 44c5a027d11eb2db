/// A value that many facts can set: the value with the latest moment, by Apple's clock, stays.
///
/// If two values have the same moment, the greater value stays, so that the outcome never depends on the
/// order of arrival.
public struct LastWriter<Value: Comparable & Sendable>: Sendable, Equatable {
    public private(set) var value: Value
    public private(set) var moment: Moment

    public init(_ value: Value, at moment: Moment) {
        (self.value, self.moment) = (value, moment)
    }

    /// Takes the other if it is later. Commutative, associative, idempotent.
    public mutating func merge(_ other: LastWriter<Value>) {
        guard (moment, value) < (other.moment, other.value) else { return }
        self = other
    }

    public func merged(with other: LastWriter<Value>?) -> LastWriter<Value> {
        guard let other else { return self }
        var result = self
        result.merge(other)
        return result
    }
}

extension LastWriter: Hashable where Value: Hashable {}
