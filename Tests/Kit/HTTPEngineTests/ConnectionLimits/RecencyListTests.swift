import Testing

@testable import HTTPEngine

@Suite struct RecencyListTests {
    static func all(_ list: RecencyList<Int>) -> [Int] {
        var elements: [Int] = []
        _ = list.first { element in
            elements.append(element)
            return false
        }
        return elements
    }

    @Test func `keeps the order of the last use`() {
        var list = RecencyList<Int>()
        let places = (0..<4).map { list.append($0) }
        #expect(Self.all(list) == [0, 1, 2, 3])
        list.moveToEnd(places[3])
        #expect(Self.all(list) == [0, 1, 2, 3])
        list.moveToEnd(places[0])
        list.moveToEnd(places[2])
        #expect(Self.all(list) == [1, 3, 0, 2])
        #expect(list.first { $0 != 1 } == 3)
    }

    @Test func `forgets what is removed, and takes its place again`() {
        var list = RecencyList<Int>()
        let places = (0..<3).map { list.append($0) }
        list.remove(places[1])
        #expect(Self.all(list) == [0, 2])
        list.remove(places[2])
        list.remove(places[0])
        #expect(Self.all(list).isEmpty)
        let again = (5..<9).map { list.append($0) }
        #expect(Self.all(list) == [5, 6, 7, 8])
        list.moveToEnd(again[1])
        list.remove(again[3])
        #expect(Self.all(list) == [5, 7, 6])
    }
}
