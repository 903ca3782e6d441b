"""What neural models share: recurrent, convolutional and attention layers, the CRF, inputs and costs."""
