package app

// CgroupMemory is for the external test package.
var CgroupMemory = cgroupMemory
