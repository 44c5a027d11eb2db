extension JSONWriter {
    public mutating func member(_ name: StaticString, _ value: String) {
        self.name(name)
        self.value(value)
    }

    public mutating func member(_ name: StaticString, _ value: Bool) {
        self.name(name)
        self.value(value)
    }

    public mutating func member(_ name: StaticString, _ value: Int64) {
        self.name(name)
        self.value(value)
    }

    public mutating func member(_ name: StaticString, _ value: Int) {
        self.name(name)
        self.value(value)
    }

    /// Writes nothing for `nil`: no null and no empty string.
    public mutating func member(_ name: StaticString, ifPresent value: String?) {
        if let value { member(name, value) }
    }

    public mutating func member(_ name: StaticString, ifPresent value: Bool?) {
        if let value { member(name, value) }
    }

    public mutating func member(_ name: StaticString, ifPresent value: Int64?) {
        if let value { member(name, value) }
    }

    /// Writes an array of text. Without any value the member is absent.
    public mutating func member(_ name: StaticString, ifAny values: [String]) {
        guard !values.isEmpty else { return }
        self.name(name)
        beginArray()
        for value in values {
            element()
            self.value(value)
        }
        endArray()
    }
}
