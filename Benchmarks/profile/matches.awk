# Reads a profile in the text form of llvm-profdata, then lines of a function's name and the hash of its control flow as
# it was compiled. Prints how many functions of the profile were compiled with the same hash. The others are compiled as
# without a profile.
FNR == 1 { file++ }
file == 1 && /^# Func Hash:/ {
    name = previous
    # The name of a private function has its file in front.
    sub(/^[^;]*;/, "", name)
    getline hash
    expected[name " " hash] = 1
    functions++
}
file == 1 { previous = $0 }
# A module that was compiled again prints its functions again. A set counts each once.
file == 2 && (($1 " " $2) in expected) { found[$1 " " $2] = 1 }
END {
    for (function_ in found) matching++
    printf "note: %d of the %d functions of the profile match this code.\n", matching, functions
}
