import KeySets

extension KeySetAnswer {
    static func set(
        _ keyIDs: [String], entityTag: String? = nil, cacheControl: String? = nil
    ) throws -> KeySetAnswer {
        .replaced(
            try SampleKeySet.received(keyIDs, entityTag: entityTag), CacheControl(cacheControl, age: nil))
    }
}
