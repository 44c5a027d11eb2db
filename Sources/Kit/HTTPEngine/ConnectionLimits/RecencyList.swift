/// Elements in the order of their last use. Adding, moving to the end and removing take constant time.
struct RecencyList<Element> {
    /// The position of an element until it is removed.
    struct Place: Equatable {
        fileprivate let index: Int
    }

    private struct Node {
        var element: Element?
        var previous: Int
        var next: Int
    }

    private static var none: Int { -1 }

    private var nodes: [Node] = []
    private var first = Self.none
    private var last = Self.none
    /// Removed nodes, linked by `next`.
    private var unused = Self.none

    mutating func append(_ element: Element) -> Place {
        var index = unused
        if index == Self.none {
            index = nodes.count
            nodes.append(Node(element: element, previous: Self.none, next: Self.none))
        } else {
            unused = nodes[index].next
            nodes[index].element = element
        }
        linkAtEnd(index)
        return Place(index: index)
    }

    mutating func moveToEnd(_ place: Place) {
        guard place.index != last else { return }
        unlink(place.index)
        linkAtEnd(place.index)
    }

    mutating func remove(_ place: Place) {
        unlink(place.index)
        nodes[place.index] = Node(element: nil, previous: Self.none, next: unused)
        unused = place.index
    }

    var oldest: Element? { first == Self.none ? nil : nodes[first].element }

    /// Returns the least recently used element that matches.
    func first(where isMeant: (Element) -> Bool) -> Element? {
        var index = first
        while index != Self.none {
            if let element = nodes[index].element, isMeant(element) { return element }
            index = nodes[index].next
        }
        return nil
    }

    private mutating func unlink(_ index: Int) {
        let (previous, next) = (nodes[index].previous, nodes[index].next)
        if previous == Self.none { first = next } else { nodes[previous].next = next }
        if next == Self.none { last = previous } else { nodes[next].previous = previous }
    }

    private mutating func linkAtEnd(_ index: Int) {
        (nodes[index].previous, nodes[index].next) = (last, Self.none)
        if last == Self.none { first = index } else { nodes[last].next = index }
        last = index
    }
}
