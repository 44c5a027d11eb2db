/// A value that many facts can set: the one with the latest moment, by Apple's clock, stays.
///
/// Of two values of the same moment the greater one stays, so that the outcome never depends on which came
/// first.
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
